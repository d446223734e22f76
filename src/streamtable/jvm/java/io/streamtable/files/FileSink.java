package io.streamtable.files;

import java.util.HashMap;
import org.apache.spark.sql.DataFrameWriter;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SaveMode;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.streaming.Sink;
import scala.collection.immutable.Map;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Writes each batch exactly once: first into a hidden directory, then by renames that a restart
 * continues ({@link FileCommits}).
 */
final class FileSink implements Sink {
  private static final String OF_WRITER = "writer.";

  private final SparkSession session;
  private final FileCommits commits;
  private final String writer;
  private final java.util.Map<String, String> options = new HashMap<>();
  private final Seq<String> partitions;

  FileSink(
      SparkSession session,
      FileCommits commits,
      Map<String, String> parameters,
      Seq<String> partitions) {
    this.session = session;
    this.commits = commits;
    this.writer = parameters.apply("writer");
    this.partitions = partitions;
    CollectionConverters.asJava(parameters)
        .forEach(
            (key, value) -> {
              if (key.startsWith(OF_WRITER)) {
                options.put(key.substring(OF_WRITER.length()), value);
              }
            });
  }

  @Override
  public void addBatch(long batch, Dataset<Row> data) {
    // Keeps Spark's plan of the batch: a new plan would read the input and use state differently.
    Dataset<Row> rows =
        session.internalCreateDataFrame(
            ((org.apache.spark.sql.classic.Dataset<Row>) data).queryExecution().toRdd(),
            data.schema(),
            false);
    if (commits.isPrepared(batch)) {
      // The rows are written or staged already. The batch still runs, to update its state.
      rows.write().format("noop").mode(SaveMode.Overwrite).save();
    } else {
      DataFrameWriter<Row> into = rows.write().format(writer).options(options);
      if (!partitions.isEmpty()) {
        into = into.partitionBy(partitions);
      }
      into.mode(SaveMode.Overwrite).save(commits.begin().toString());
      commits.prepare(batch);
    }
    commits.finish(batch);
  }

  @Override
  public String toString() {
    return "filesystem " + commits;
  }
}
