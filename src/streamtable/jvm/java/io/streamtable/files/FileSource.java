package io.streamtable.files;

import org.apache.spark.sql.SQLContext;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.streaming.Source;
import org.apache.spark.sql.sources.StreamSourceProvider;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import scala.Tuple2;
import scala.collection.immutable.Map;

/**
 * A streaming source of the rows of files, read by Spark's own readers.
 *
 * <p>Its schema is that of the reader plus a struct {@code __file} at the end ({@link FileStream}).
 * Options: {@code directory}, {@code reader}, {@code pattern}, {@code bounded}, {@code interval} in
 * milliseconds, {@code batchbytes}, {@code positions}.
 */
public final class FileSource implements StreamSourceProvider {
  @Override
  public Tuple2<String, StructType> sourceSchema(
      SQLContext context,
      Option<StructType> schema,
      String provider,
      Map<String, String> parameters) {
    return new Tuple2<>("filesystem", FileStream.withFile(schema.get()));
  }

  @Override
  public Source createSource(
      SQLContext context,
      String metadataPath,
      Option<StructType> schema,
      String provider,
      Map<String, String> parameters) {
    SparkSession session = (SparkSession) context.sparkSession();
    FileListing listing =
        new FileListing(
            session.sessionState().newHadoopConf(),
            parameters.apply("directory"),
            parameters.get("pattern").getOrElse(() -> null));
    FileBacklog backlog =
        new FileBacklog(
            listing,
            metadataPath,
            Boolean.parseBoolean(parameters.apply("bounded")),
            Long.parseLong(parameters.apply("interval")));
    return new FileStream(
        session,
        metadataPath,
        parameters.apply("reader"),
        schema.get(),
        backlog,
        Long.parseLong(parameters.apply("batchbytes")),
        Boolean.parseBoolean(parameters.apply("positions")));
  }
}
