package io.streamtable.query;

import java.io.IOException;
import java.net.URL;
import java.util.Collections;
import java.util.Enumeration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The functions that Spark registers for vectors of its machine learning, such as {@code
 * vector_to_array}. Their registration starts Scala's reflection, which takes as long as the rest
 * of a session, and no script calls them. It happens once per JVM, when a class is loaded that Spark
 * finds as an extension of sessions.
 */
public final class VectorFunctions {
  private static final Logger LOG = LoggerFactory.getLogger(VectorFunctions.class);
  private static final String EXTENSIONS =
      "META-INF/services/org.apache.spark.sql.SparkSessionExtensionsProvider";
  private static final String LIBRARY = "/spark-mllib_";
  private static final String REGISTRATION = "org.apache.spark.sql.ml.InternalFunctionRegistration$";

  private VectorFunctions() {}

  /**
   * Lets this thread create sessions without the functions.
   *
   * @return what {@link #show} takes
   */
  public static ClassLoader hide() {
    Thread thread = Thread.currentThread();
    ClassLoader before = thread.getContextClassLoader();
    thread.setContextClassLoader(new WithoutLibrary(before));
    return before;
  }

  /** Ends {@link #hide}. */
  public static void show(ClassLoader before) {
    Thread.currentThread().setContextClassLoader(before);
  }

  /** Registers the functions in the background, for sessions in which users call Spark directly. */
  public static void register() {
    Thread thread = new Thread(VectorFunctions::registerNow, "streamtable-vector-functions");
    thread.setDaemon(true);
    thread.start();
  }

  private static void registerNow() {
    try {
      Class.forName(REGISTRATION, true, Thread.currentThread().getContextClassLoader());
    } catch (ClassNotFoundException | LinkageError error) {
      LOG.info("Spark's functions of vectors are not registered", error);
    }
  }

  /** Finds all that its parent finds, except the extensions of one library. */
  private static final class WithoutLibrary extends ClassLoader {
    WithoutLibrary(ClassLoader parent) {
      super(parent);
    }

    @Override
    public Enumeration<URL> getResources(String name) throws IOException {
      Enumeration<URL> all = super.getResources(name);
      if (!name.equals(EXTENSIONS)) {
        return all;
      }
      return Collections.enumeration(
          Collections.list(all).stream().filter(url -> !url.getPath().contains(LIBRARY)).toList());
    }
  }
}
