package io.streamtable.query;

import io.streamtable.query.bundles.RowBundles;
import io.streamtable.query.reuse.OptimizedPlans;
import java.util.List;
import org.apache.spark.sql.SparkSessionExtensions;
import org.apache.spark.sql.catalyst.expressions.SortOrder;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.execution.ColumnarRule;
import org.apache.spark.sql.execution.SortExec;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.TransformWithStateExec;
import scala.jdk.javaapi.CollectionConverters;
import scala.runtime.AbstractFunction1;
import scala.runtime.BoxedUnit;

/**
 * Sorts groups in the key order of RocksDB before they access their state. Neighbouring keys are in
 * one block, which is then read, decompressed and searched once for all of them.
 *
 * <p>Before a stateful processor, Spark sorts the rows of a batch only to make the rows of a group
 * adjacent, so any order of groups is valid. {@link KeyOrder} gives the order of RocksDB.
 *
 * <p>This is the extension that sessions name, so it also registers {@link LocalTimes}, {@link
 * RowBundles}, {@link ReachedTimers} and {@link OptimizedPlans}.
 */
public final class StateOrder extends AbstractFunction1<SparkSessionExtensions, BoxedUnit> {
  /** The session's option, read when a batch is planned. */
  private static final String ENABLED = "spark.streamtable.stateOrder.enabled";

  @Override
  public BoxedUnit apply(SparkSessionExtensions extensions) {
    extensions.injectColumnar(session -> new AfterShuffles(new Sorted()));
    extensions.injectColumnar(session -> new AfterShuffles(new RowBundles()));
    extensions.injectColumnar(session -> new AfterShuffles(new ReachedTimers()));
    extensions.injectOptimizerRule(session -> new LocalTimes());
    OptimizedPlans.register(extensions);
    return BoxedUnit.UNIT;
  }

  /** The extension point where a plan already has its shuffles and sorts. */
  private static final class AfterShuffles extends ColumnarRule {
    private final Rule<SparkPlan> rule;

    AfterShuffles(Rule<SparkPlan> rule) {
      this.rule = rule;
    }

    @Override
    public Rule<SparkPlan> preColumnarTransitions() {
      return rule;
    }
  }

  private static final class Sorted extends Rule<SparkPlan> {
    @Override
    public SparkPlan apply(SparkPlan plan) {
      return Boolean.parseBoolean(conf().getConfString(ENABLED, "true"))
          ? ProcessorInputs.replaced(plan, Sorted::sorted)
          : plan;
    }

    private static SparkPlan sorted(TransformWithStateExec processor) {
      return processor.child() instanceof SortExec sort ? asStored(sort) : processor.child();
    }
  }

  private static SortExec asStored(SortExec sort) {
    List<SortOrder> orders = KeyOrder.of(CollectionConverters.asJava(sort.sortOrder()));
    return sort.copy(OwnNodes.seq(orders), sort.global(), sort.child(), sort.testSpillFrequency());
  }
}
