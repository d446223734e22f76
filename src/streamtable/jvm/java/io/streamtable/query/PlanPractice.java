package io.streamtable.query;

import java.util.concurrent.atomic.AtomicInteger;
import org.apache.spark.sql.execution.FormattedMode$;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.SparkPlanInfo$;
import org.apache.spark.sql.execution.streaming.runtime.IncrementalExecution;
import org.apache.spark.sql.execution.streaming.runtime.MicroBatchExecution;
import org.apache.spark.sql.execution.streaming.runtime.StreamingQueryWrapper;
import org.apache.spark.sql.execution.streaming.runtime.WatermarkPropagator$;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Plans the batch of a running query anew, again and again, and runs none of these plans. Rows of
 * real-time mode wait while Spark plans the next batch; the JVM compiles what it does there only
 * once it has been done often enough.
 */
public final class PlanPractice {
  private static final Logger LOG = LoggerFactory.getLogger(PlanPractice.class);
  private static final long WAIT_MS = 20;
  private static final AtomicInteger PLANNED = new AtomicInteger();

  private PlanPractice() {}

  /**
   * Begins, in the background, once the query has planned a batch; ends after so many plans of all
   * queries of this JVM together, or with the query.
   */
  public static void begin(StreamingQueryWrapper query, int plans) {
    if (PLANNED.get() >= plans) {
      return;
    }
    Thread thread = new Thread(() -> practise(query, plans), "streamtable-plan-practice");
    thread.setDaemon(true);
    thread.start();
  }

  /** How often something has been planned in this JVM. */
  public static int planned() {
    return PLANNED.get();
  }

  private static void practise(StreamingQueryWrapper query, int plans) {
    MicroBatchExecution execution = (MicroBatchExecution) query.streamingQuery();
    try {
      while (query.isActive() && PLANNED.get() < plans) {
        IncrementalExecution batch = execution.lastExecution();
        if (batch == null) { // the query plans one itself just now, while rows wait
          Thread.sleep(WAIT_MS);
          continue;
        }
        batch.sparkSession().withActive(() -> plan(batch));
        PLANNED.incrementAndGet();
      }
    } catch (Exception e) {
      // Such as a source that cannot be asked just now, of which Scala does not say that it may be
      // a checked one: what the query itself finds there counts.
      LOG.info("planning for practice has ended", e);
    }
  }

  /** All that Spark does for a batch before its tasks. */
  private static Object plan(IncrementalExecution batch) {
    IncrementalExecution again =
        new IncrementalExecution(
            batch.sparkSession(),
            batch.logical(),
            batch.outputMode(),
            batch.checkpointLocation(),
            batch.queryId(),
            batch.runId(),
            batch.currentBatchId(),
            batch.prevOffsetSeqMetadata(),
            batch.offsetSeqMetadata(),
            // The query's own remembers what it has been asked.
            WatermarkPropagator$.MODULE$.apply(batch.sparkSession().sessionState().conf()),
            false, // the first one writes down what the state looks like
            batch.currentStateStoreCkptId().clone(),
            batch.stateSchemaMetadatas().clone(),
            batch.mode(),
            batch.isTerminatingTrigger(),
            batch.isRealTimeMode());
    again.explainString(FormattedMode$.MODULE$);
    SparkPlanInfo$.MODULE$.fromSparkPlan(again.executedPlan());
    for (SparkPlan written : CollectionConverters.asJava(again.executedPlan().children())) {
      written.execute(); // makes the code and the tasks' descriptions
    }
    return null;
  }
}
