package io.streamtable.kafka;

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
import org.apache.spark.sql.kafka010.KafkaSourceProvider;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * Spark's Kafka source for micro-batches, whose records come without copies ({@link BatchReader})
 * and whose batches end where a {@link Pace} lets them, if there is one; what it writes into a
 * checkpoint is the same. Options beside those of Spark: {@link #PACE}, {@link #QUERY}.
 */
public final class BatchSource implements TableProvider {
  /** The id that {@link Pace#begin} was given. */
  public static final String PACE = "pace";
  /** The name of the query. */
  public static final String QUERY = "paceQuery";

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
              kafka.newScanBuilder(options).build(), options.get(PACE), options.get(QUERY));
    }
  }

  private record BatchScan(Scan kafka, String pace, String query) implements Scan {
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
      return new BatchStream(stream, pace == null ? null : Pace.of(pace), query);
    }
  }

  /** The stream of one scan in one run of a query. */
  private static final class BatchStream
      implements MicroBatchStream, SupportsTriggerAvailableNow, ReportsSourceMetrics {
    private final MicroBatchStream kafka;
    private final SupportsTriggerAvailableNow limited;
    private final Pace pace;
    private final String query;

    BatchStream(MicroBatchStream kafka, Pace pace, String query) {
      this.kafka = kafka;
      this.limited = (SupportsTriggerAvailableNow) kafka;
      this.pace = pace;
      this.query = query;
    }

    @Override
    public Offset latestOffset(Offset begin, ReadLimit limit) {
      Offset end = limited.latestOffset(begin, limit);
      if (pace == null) {
        return end; // nobody to wait for, or a job that comes to its end and only tidies up
      }
      Positions wanted = Positions.of(end.json());
      try {
        Positions found = pace.within(query, this, Positions.of(begin.json()), wanted);
        return found.equals(wanted) ? end : kafka.deserializeOffset(found.json());
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        // What Spark takes for the end of a query that is stopped.
        throw new UncheckedIOException(new InterruptedIOException("stopped while held back"));
      }
    }

    @Override
    public void stop() {
      if (pace != null) {
        pace.leave(query, this);
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
      return kafka.planInputPartitions(begin, end);
    }

    @Override
    public PartitionReaderFactory createReaderFactory() {
      return BatchReader.factory(kafka.createReaderFactory());
    }

    @Override
    public String toString() {
      return kafka.toString();
    }
  }
}
