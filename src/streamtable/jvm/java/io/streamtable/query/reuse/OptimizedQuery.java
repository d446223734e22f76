package io.streamtable.query.reuse;

import io.streamtable.query.OwnNodes;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeSet;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.SparkStrategy;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Seq;

/**
 * An optimized plan in place of the plan that Spark would analyze and optimize again. It has no
 * children, so the rules of the analyzer and the optimizer do not see the plan.
 */
public final class OptimizedQuery extends LogicalPlan {
  private final LogicalPlan optimized;
  private final Seq<Attribute> output;

  /** Spark copies a node by the public constructor. */
  public OptimizedQuery(LogicalPlan optimized, Seq<Attribute> output) {
    this.optimized = optimized;
    this.output = output;
  }

  @Override
  public Seq<LogicalPlan> children() {
    return OwnNodes.seq(List.of());
  }

  @Override
  public Seq<Attribute> output() {
    return output;
  }

  @Override
  public AttributeSet producedAttributes() {
    return outputSet();
  }

  @Override
  public boolean isStreaming() {
    return true;
  }

  @Override
  public LogicalPlan withNewChildrenInternal(IndexedSeq<LogicalPlan> children) {
    return this;
  }

  @Override
  public int productArity() {
    return 2;
  }

  @Override
  public Object productElement(int place) {
    return place == 0 ? optimized : output;
  }

  @Override
  public boolean canEqual(Object other) {
    return other instanceof OptimizedQuery;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof OptimizedQuery query
        && query.optimized.equals(optimized)
        && query.output.equals(output);
  }

  @Override
  public int hashCode() {
    return 31 * optimized.hashCode() + output.hashCode();
  }

  /** Plans what is optimized already. */
  static final class Strategy extends SparkStrategy {
    @Override
    public Seq<SparkPlan> apply(LogicalPlan plan) {
      return OwnNodes.seq(
          plan instanceof OptimizedQuery query ? List.of(planLater(query.optimized)) : List.of());
    }
  }
}
