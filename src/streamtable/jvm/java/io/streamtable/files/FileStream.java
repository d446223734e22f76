package io.streamtable.files;

import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.expr;
import static org.apache.spark.sql.functions.struct;

import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.fs.Path;
import org.apache.spark.paths.SparkPath;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.classic.Dataset$;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.read.streaming.ReadLimit;
import org.apache.spark.sql.connector.read.streaming.SupportsTriggerAvailableNow;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation$;
import org.apache.spark.sql.execution.streaming.Offset;
import org.apache.spark.sql.execution.streaming.Source;
import org.apache.spark.sql.execution.streaming.runtime.FileStreamSource.FileEntry;
import org.apache.spark.sql.execution.streaming.runtime.FileStreamSourceLog;
import org.apache.spark.sql.execution.streaming.runtime.FileStreamSourceOffset;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import scala.Tuple2;

/**
 * The batches of a {@link FileSource}. Spark's log of file sources stores the files of each batch;
 * a batch that runs again reads the same files.
 *
 * <p>The struct {@code __file} of a row has {@code path} as a URI, {@code name}, {@code size},
 * {@code modified}, and {@code position}, which increases from batch to batch, and within a task of
 * a batch.
 */
final class FileStream implements Source, SupportsTriggerAvailableNow {
  private static final StructType FILE =
      new StructType()
          .add("path", DataTypes.StringType, false)
          .add("name", DataTypes.StringType, false)
          .add("size", DataTypes.LongType, false)
          .add("modified", DataTypes.TimestampType, false)
          .add("position", DataTypes.LongType, false);
  private static final String COLUMN = "__file";

  private final SparkSession session;
  private final String reader;
  private final StructType content;
  private final FileBacklog backlog;
  private final long batchBytes;
  private final boolean positions;
  private final FileStreamSourceLog log;
  private long newest;

  FileStream(
      SparkSession session,
      String metadataPath,
      String reader,
      StructType content,
      FileBacklog backlog,
      long batchBytes,
      boolean positions) {
    this.session = session;
    this.reader = reader;
    this.content = content;
    this.backlog = backlog;
    this.batchBytes = batchBytes;
    this.positions = positions;
    log = new FileStreamSourceLog(FileStreamSourceLog.VERSION(), session, metadataPath);
    Option<Object> latest = log.getLatestBatchId();
    newest = latest.isEmpty() ? -1 : (Long) latest.get();
    backlog.restore(log.restore());
  }

  /** Returns the schema of a reader's rows plus the struct {@code __file}. */
  static StructType withFile(StructType content) {
    return content.add(COLUMN, FILE, false);
  }

  @Override
  public StructType schema() {
    return withFile(content);
  }

  @Override
  public void prepareForTriggerAvailableNow() {
    backlog.close();
  }

  @Override
  public Option<Offset> getOffset() {
    throw new UnsupportedOperationException("Spark calls latestOffset(Offset, ReadLimit)");
  }

  @Override
  public org.apache.spark.sql.connector.read.streaming.Offset latestOffset(
      org.apache.spark.sql.connector.read.streaming.Offset start, ReadLimit limit) {
    List<FileListing.Found> files = backlog.take(batchBytes);
    if (!files.isEmpty()) {
      long batch = newest + 1;
      FileEntry[] entries =
          files.stream()
              .map(file -> new FileEntry(encoded(file.path()), file.modified(), batch))
              .toArray(FileEntry[]::new);
      if (!log.add(batch, entries)) {
        throw new IllegalStateException("another query has written the log of files");
      }
      newest = batch;
    }
    return newest < 0 ? null : new FileStreamSourceOffset(newest);
  }

  @Override
  public Dataset<Row> getBatch(Option<Offset> start, Offset end) {
    long before = start.isEmpty() ? -1 : FileStreamSourceOffset.apply(start.get()).logOffset();
    long last = FileStreamSourceOffset.apply(end).logOffset();
    List<String> paths = new ArrayList<>();
    for (Tuple2<Object, FileEntry[]> batch : log.get(Option.apply(before + 1), Option.apply(last))) {
      for (FileEntry entry : batch._2()) {
        paths.add(entry.sparkPath().toPath().toString());
      }
    }
    Dataset<Row> read =
        session
            .read()
            .format(reader)
            .schema(content)
            // The paths are literal names, whatever characters they contain.
            .option("__globPaths__", "false")
            .option("recursiveFileLookup", "true")
            .load(paths.toArray(String[]::new));
    LogicalRelation relation = (LogicalRelation) read.queryExecution().analyzed();
    Dataset<Row> streaming =
        Dataset$.MODULE$.ofRows(
            session, LogicalRelation$.MODULE$.apply(relation.relation(), true));
    List<Column> columns = new ArrayList<>();
    for (String name : content.fieldNames()) {
      columns.add(col("`" + name.replace("`", "``") + "`"));
    }
    columns.add(
        struct(
                col("_metadata.file_path").as("path"),
                col("_metadata.file_name").as("name"),
                col("_metadata.file_size").as("size"),
                col("_metadata.file_modification_time").as("modified"),
                position(last).as("position"))
            .as(COLUMN));
    return streaming.select(columns.toArray(Column[]::new));
  }

  /** Returns the position of a row: 20 bits of the batch, 13 of the task, 30 of the row. */
  private Column position(long batch) {
    if (!positions) {
      return expr("0L");
    }
    String row = "(monotonically_increasing_id() & 1073741823L)";
    String task = "shiftleft(CAST(spark_partition_id() AS BIGINT), 30)";
    return expr("shiftleft(" + batch + "L, 43) + " + task + " + " + row);
  }

  private static String encoded(String path) {
    return SparkPath.fromPath(new Path(path)).urlEncoded();
  }

  @Override
  public void stop() {}
}
