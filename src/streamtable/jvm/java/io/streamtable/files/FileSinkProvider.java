package io.streamtable.files;

import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.SQLContext;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.streaming.Sink;
import org.apache.spark.sql.sources.StreamSinkProvider;
import org.apache.spark.sql.streaming.OutputMode;
import scala.collection.immutable.Map;
import scala.collection.immutable.Seq;

/**
 * A streaming sink of files, written by Spark's own writers ({@link FileSink}).
 *
 * <p>Options: {@code directory}; {@code writer}; {@code extension}; {@code id} of the query, unique
 * among all writers of the directory; {@code log} of the commits, in the query's checkpoint;
 * {@code successfile}; and the writer's options with the prefix {@code writer.}.
 */
public final class FileSinkProvider implements StreamSinkProvider {
  @Override
  public Sink createSink(
      SQLContext context,
      Map<String, String> parameters,
      Seq<String> partitions,
      OutputMode mode) {
    SparkSession session = (SparkSession) context.sparkSession();
    FileCommits commits =
        new FileCommits(
            session.sessionState().newHadoopConf(),
            new Path(parameters.apply("directory")),
            parameters.apply("id"),
            parameters.apply("log"),
            parameters.apply("extension"),
            parameters.get("successfile").getOrElse(() -> null));
    return new FileSink(session, commits, parameters, partitions);
  }
}
