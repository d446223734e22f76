package io.streamtable.files;

import java.io.IOException;
import java.io.UncheckedIOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.SQLContext;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.streaming.Sink;
import org.apache.spark.sql.sources.StreamSinkProvider;
import org.apache.spark.sql.streaming.OutputMode;
import scala.collection.immutable.Map;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * A streaming sink of files, written by Spark's own writers ({@link FileSink}).
 *
 * <p>Options: {@code directory}; {@code writer}; {@code extension}; {@code id} of the query, unique
 * among all writers of the directory; {@code log} of the commits, in the query's checkpoint;
 * {@code successfile}, the marker of committed partitions, with {@code commit.delay} in
 * milliseconds and {@code commit.bytime}, {@code commit.pattern}, {@code commit.formatter} and
 * {@code commit.zone} for the trigger by partition time; and the writer's options with the prefix
 * {@code writer.}.
 */
public final class FileSinkProvider implements StreamSinkProvider {
  @Override
  public Sink createSink(
      SQLContext context,
      Map<String, String> parameters,
      Seq<String> partitions,
      OutputMode mode) {
    SparkSession session = (SparkSession) context.sparkSession();
    Configuration configuration = session.sessionState().newHadoopConf();
    FileCommits commits =
        new FileCommits(
            configuration,
            new Path(parameters.apply("directory")),
            parameters.apply("id"),
            parameters.apply("log"),
            parameters.apply("extension"),
            partitions(configuration, parameters));
    return new FileSink(session, commits, parameters, partitions);
  }

  private static PartitionCommits partitions(
      Configuration configuration, Map<String, String> parameters) {
    try {
      return PartitionCommits.of(configuration, CollectionConverters.asJava(parameters));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
