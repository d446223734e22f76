package io.streamtable.query;

import java.lang.reflect.Field;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.sql.SparkSession;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Names of the files from which Hadoop has read its settings. Spark sends Hadoop's settings to the
 * tasks of each operator in each batch, and Hadoop compresses the name of each setting's file by
 * itself: a thousand times the name of a file of defaults in Hadoop's own jars, which nothing reads.
 * A class of Hadoop that adds a file of defaults later, such as HDFS's, brings the names back.
 */
public final class HadoopSources {
  private static final Logger LOG = LoggerFactory.getLogger(HadoopSources.class);

  /** The end of the names of files with defaults, for example {@code core-default.xml}. */
  private static final String DEFAULTS = "-default.xml";

  /** A private field of Hadoop's configuration: setting to names of files. */
  private static final String FIELD = "updatingResource";

  private HadoopSources() {}

  /** Removes the names of files with defaults from a session's settings, which keep their values. */
  public static void removeDefaults(SparkSession session) {
    Configuration settings = session.sparkContext().hadoopConfiguration();
    settings.size(); // reads the files
    try {
      Field field = Configuration.class.getDeclaredField(FIELD);
      field.setAccessible(true);
      Map<?, ?> sources = (Map<?, ?>) field.get(settings);
      sources.values().removeIf(names -> ((String[]) names)[0].endsWith(DEFAULTS));
    } catch (ReflectiveOperationException | RuntimeException error) {
      LOG.info("Hadoop's settings keep the names of their files", error);
    }
  }
}
