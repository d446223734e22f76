package io.streamtable.kafka.read;

import io.streamtable.source.Positions;
import io.streamtable.source.SourceAlignment;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.spark.sql.connector.catalog.Column;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.catalog.TableProvider;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.connector.read.streaming.Offset;
import org.apache.spark.sql.connector.read.streaming.ReadLimit;
import org.apache.spark.sql.connector.read.streaming.ReportsSourceMetrics;
import org.apache.spark.sql.connector.read.streaming.SupportsTriggerAvailableNow;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.kafka010.KafkaSourceProvider;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * Spark's Kafka source for micro-batches, without copies of records ({@link RecordRow}), with tasks
 * that may read several partitions ({@link PartitionGroup}), and with optional source alignment: a
 * {@link SourceAlignment} may limit where a batch ends, and {@link #ENDS} may limit what is read at
 * all. The source writes the same content into a checkpoint as Spark's source. Options in addition
 * to Spark's: {@link #ALIGNMENT}, {@link #QUERY}, {@link #GROUPS}, {@link #ENDS}.
 */
public final class BatchSource implements TableProvider {
  /** The option with the id that was passed to {@link SourceAlignment#begin}. */
  public static final String ALIGNMENT = "alignment";
  /** The option with the name of the query. */
  public static final String QUERY = "alignmentQuery";
  /** The option that allows a task to read several partitions: true or false. */
  public static final String GROUPS = "partitionGroups";
  /** The option with the offsets at which the scan ends, as JSON; other partitions are not read. */
  public static final String ENDS = "ends";

  private final KafkaSourceProvider kafka = new KafkaSourceProvider();

  @Override
  public StructType inferSchema(CaseInsensitiveStringMap options) {
    return kafka.inferSchema(options);
  }

  @Override
  public Table getTable(
      StructType schema, Transform[] partitioning, Map<String, String> properties) {
    return new BatchTable((SupportsRead) kafka.getTable(schema, partitioning, properties));
  }

  private record BatchTable(SupportsRead kafka) implements SupportsRead {
    @Override
    public String name() {
      return kafka.name();
    }

    @Override
    public Column[] columns() {
      return kafka.columns();
    }

    @Override
    public Set<TableCapability> capabilities() {
      return Set.of(TableCapability.MICRO_BATCH_READ);
    }

    @Override
    public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
      return () ->
          new BatchScan(
              kafka.newScanBuilder(options).build(),
              options.get(ALIGNMENT),
              options.get(QUERY),
              options.getBoolean(GROUPS, false),
              options.get(ENDS));
    }
  }

  private record BatchScan(
      Scan kafka, String alignment, String query, boolean groups, String ends) implements Scan {
    @Override
    public StructType readSchema() {
      return kafka.readSchema();
    }

    @Override
    public String description() {
      return kafka.description();
    }

    @Override
    public MicroBatchStream toMicroBatchStream(String checkpoint) {
      MicroBatchStream stream = kafka.toMicroBatchStream(checkpoint);
      SourceAlignment limit = alignment == null ? null : SourceAlignment.of(alignment);
      Positions last = ends == null ? null : KafkaOffsets.parse(ends);
      return new BatchStream(stream, limit, query, groups, last);
    }
  }

  /** The stream of one scan in one run of a query. */
  private static final class BatchStream
      implements MicroBatchStream, SupportsTriggerAvailableNow, ReportsSourceMetrics {
    private final MicroBatchStream kafka;
    private final SupportsTriggerAvailableNow limited;
    private final SourceAlignment alignment;
    private final String query;
    private final boolean groups;
    private final Positions ends;

    BatchStream(
        MicroBatchStream kafka,
        SourceAlignment alignment,
        String query,
        boolean groups,
        Positions ends) {
      this.kafka = kafka;
      this.limited = (SupportsTriggerAvailableNow) kafka;
      this.alignment = alignment;
      this.query = query;
      this.groups = groups;
      this.ends = ends;
    }

    @Override
    public Offset latestOffset(Offset begin, ReadLimit limit) {
      Offset end = ended(begin, withRest(begin, limited.latestOffset(begin, limit)));
      if (alignment == null) {
        return end; // no alignment, or the job has ended and only cleans up
      }
      Positions wanted = KafkaOffsets.parse(end.json());
      try {
        Positions found = alignment.within(query, this, KafkaOffsets.parse(begin.json()), wanted);
        return found.equals(wanted) ? end : kafka.deserializeOffset(KafkaOffsets.json(found));
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        // Spark treats this exception as the end of a query that is stopped.
        throw new UncheckedIOException(new InterruptedIOException("stopped while held back"));
      }
    }

    /** Returns the end of a batch, but not after the ends of the scan. */
    private Offset ended(Offset begin, Offset end) {
      if (ends == null) {
        return end;
      }
      Positions found = KafkaOffsets.parse(end.json());
      found = found.endedAt(KafkaOffsets.parse(begin.json()), ends);
      return kafka.deserializeOffset(KafkaOffsets.json(found));
    }

    /**
     * Returns the newest offsets instead of the end of a batch, if few records are left. Spark
     * rounds the share of each partition down, so the rest would often be a batch of a few records.
     */
    private Offset withRest(Offset begin, Offset end) {
      Offset newest = limited.reportLatestOffset();
      if (newest == null || newest.equals(end)) {
        return end;
      }
      Positions last = KafkaOffsets.parse(end.json());
      long records = KafkaOffsets.parse(begin.json()).recordsTo(last);
      long rest = last.recordsTo(KafkaOffsets.parse(newest.json()));
      return rest > 0 && rest * 100 <= records ? newest : end;
    }

    @Override
    public void stop() {
      if (alignment != null) {
        alignment.leave(query, this);
      }
      kafka.stop();
    }

    @Override
    public ReadLimit getDefaultReadLimit() {
      return limited.getDefaultReadLimit();
    }

    @Override
    public Offset reportLatestOffset() {
      return limited.reportLatestOffset();
    }

    @Override
    public void prepareForTriggerAvailableNow() {
      limited.prepareForTriggerAvailableNow();
    }

    @Override
    public Map<String, String> metrics(Optional<Offset> latestConsumed) {
      return ((ReportsSourceMetrics) kafka).metrics(latestConsumed);
    }

    @Override
    public Offset latestOffset() {
      return kafka.latestOffset();
    }

    @Override
    public Offset initialOffset() {
      return kafka.initialOffset();
    }

    @Override
    public Offset deserializeOffset(String json) {
      return kafka.deserializeOffset(json);
    }

    @Override
    public void commit(Offset end) {
      kafka.commit(end);
    }

    @Override
    public InputPartition[] planInputPartitions(Offset begin, Offset end) {
      InputPartition[] parts = kafka.planInputPartitions(begin, end);
      if (!groups) {
        return PartitionGroup.single(parts);
      }
      return PartitionGroup.of(parts, PartitionGroup.slots(SparkSession.active().sparkContext()));
    }

    @Override
    public PartitionReaderFactory createReaderFactory() {
      return GroupReader.factory(kafka.createReaderFactory());
    }

    @Override
    public String toString() {
      return kafka.toString();
    }
  }
}
