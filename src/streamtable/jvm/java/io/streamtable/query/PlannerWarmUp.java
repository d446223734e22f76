package io.streamtable.query;

import io.streamtable.shims.IncrementalExecutions;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.spark.sql.execution.FormattedMode$;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.SparkPlanInfo$;
import org.apache.spark.sql.execution.streaming.runtime.IncrementalExecution;
import org.apache.spark.sql.execution.streaming.runtime.MicroBatchExecution;
import org.apache.spark.sql.execution.streaming.runtime.StreamingQueryWrapper;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Planner warm-up: plans the batch of a running query repeatedly without running the plans. Rows of
 * real-time mode wait while Spark plans the next batch, and the JVM compiles the planner only after
 * it has run often enough.
 */
public final class PlannerWarmUp {
  private static final Logger LOG = LoggerFactory.getLogger(PlannerWarmUp.class);
  private static final long WAIT_MS = 20;
  /** Number of plans that are made without a wait. Later ones leave the CPU to rows. */
  private static final int AT_ONCE = 30;

  private static final long BETWEEN_MS = 200;
  private static final AtomicInteger PLANNED = new AtomicInteger();

  private PlannerWarmUp() {}

  /**
   * Starts in the background, after the query has planned a batch. Ends after this number of plans
   * of all queries of this JVM together, or with the query.
   */
  public static void begin(StreamingQueryWrapper query, int plans) {
    if (PLANNED.get() >= plans) {
      return;
    }
    Thread thread = new Thread(() -> warmUp(query, plans), "streamtable-planner-warm-up");
    thread.setDaemon(true);
    thread.start();
  }

  /** Returns the number of plans made in this JVM. */
  public static int planned() {
    return PLANNED.get();
  }

  private static void warmUp(StreamingQueryWrapper query, int plans) {
    MicroBatchExecution execution = (MicroBatchExecution) query.streamingQuery();
    try {
      while (query.isActive() && PLANNED.get() < plans) {
        IncrementalExecution batch = execution.lastExecution();
        if (batch == null) { // the query plans a batch now, while rows wait
          Thread.sleep(WAIT_MS);
          continue;
        }
        batch.sparkSession().withActive(() -> plan(batch));
        if (PLANNED.incrementAndGet() >= AT_ONCE) {
          Thread.sleep(BETWEEN_MS);
        }
      }
    } catch (Exception e) {
      // For example, a source is not available now. Scala does not declare that this may be a
      // checked exception. The query itself reports the error.
      LOG.info("planner warm-up has ended", e);
    }
  }

  /** Does all that Spark does for a batch before its tasks. */
  private static Object plan(IncrementalExecution batch) {
    IncrementalExecution again = IncrementalExecutions.copyOf(batch);
    again.explainString(FormattedMode$.MODULE$);
    SparkPlanInfo$.MODULE$.fromSparkPlan(again.executedPlan());
    for (SparkPlan written : CollectionConverters.asJava(again.executedPlan().children())) {
      written.execute(); // generates code and serializes tasks
    }
    return null;
  }
}
