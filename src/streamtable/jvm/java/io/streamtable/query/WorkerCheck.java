package io.streamtable.query;

import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.stream.IntStream;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaFutureAction;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.api.java.function.Function;
import org.apache.spark.sql.SparkSession;

/**
 * Runs a task in every slot of a cluster that loads the classes of a job, and compares the versions
 * of Spark and of our jar with those of the driver. A worker without our jar fails this task, before
 * a job has created anything.
 */
public final class WorkerCheck {
  private final JavaFutureAction<List<String>> tasks;

  private WorkerCheck(JavaFutureAction<List<String>> tasks) {
    this.tasks = tasks;
  }

  /** Starts the tasks; they begin when the first executor has registered. */
  public static WorkerCheck start(SparkSession session, List<String> classes) {
    JavaSparkContext context = JavaSparkContext.fromSparkContext(session.sparkContext());
    int slots = Math.max(1, context.defaultParallelism());
    List<Integer> numbers = IntStream.range(0, slots).boxed().toList();
    Function<Integer, String> load = new Load(List.copyOf(classes), session.version(), ownJar());
    return new WorkerCheck(context.parallelize(numbers, slots).map(load).collectAsync());
  }

  public boolean isDone() {
    return tasks.isDone();
  }

  public void cancel() {
    tasks.cancel(true);
  }

  /**
   * Returns what workers lack, empty if there is nothing; throws if a task fails. Each text is the
   * host of the worker and a missing class, `spark=` with another version, or `jar=` with another
   * jar of ours.
   */
  public List<String> missing() throws Throwable {
    try {
      return tasks.get().stream().filter(text -> !text.isEmpty()).distinct().toList();
    } catch (ExecutionException failed) {
      throw failed.getCause(); // its text names the exception of the task
    }
  }

  /** Returns the name of the jar from which this process has loaded this class. */
  private static String ownJar() {
    String path = WorkerCheck.class.getProtectionDomain().getCodeSource().getLocation().getPath();
    return path.substring(path.lastIndexOf('/') + 1);
  }

  private record Load(List<String> classes, String spark, String jar)
      implements Function<Integer, String> {
    @Override
    public String call(Integer number) {
      String lack = lack();
      return lack.isEmpty() ? "" : SparkEnv.get().blockManager().blockManagerId().host() + " " + lack;
    }

    private String lack() {
      ClassLoader loader = Thread.currentThread().getContextClassLoader();
      for (String name : classes) {
        try {
          Class.forName(name, false, loader);
        } catch (ClassNotFoundException none) {
          return name;
        }
      }
      String version = org.apache.spark.package$.MODULE$.SPARK_VERSION();
      if (!version.equals(spark)) {
        return "spark=" + version;
      }
      return ownJar().equals(jar) ? "" : "jar=" + ownJar();
    }
  }
}
