package io.streamtable.query;

import java.util.List;
import java.util.stream.IntStream;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaFutureAction;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.api.java.function.Function;
import org.apache.spark.sql.SparkSession;

/**
 * Runs a task in every slot of a cluster that loads the classes of a job. A worker without our jar
 * fails this task, before a job has created anything.
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
    Function<Integer, String> load = new Load(List.copyOf(classes));
    return new WorkerCheck(context.parallelize(numbers, slots).map(load).collectAsync());
  }

  public boolean isDone() {
    return tasks.isDone();
  }

  public void cancel() {
    tasks.cancel(true);
  }

  /** Returns the missing classes as `host class`, empty if there are none; throws if a task fails. */
  public List<String> missing() throws Exception {
    return tasks.get().stream().filter(text -> !text.isEmpty()).distinct().toList();
  }

  private record Load(List<String> classes) implements Function<Integer, String> {
    @Override
    public String call(Integer number) throws Exception {
      ClassLoader loader = Thread.currentThread().getContextClassLoader();
      for (String name : classes) {
        try {
          Class.forName(name, false, loader);
        } catch (ClassNotFoundException none) {
          return SparkEnv.get().blockManager().blockManagerId().host() + " " + name;
        }
      }
      return "";
    }
  }
}
