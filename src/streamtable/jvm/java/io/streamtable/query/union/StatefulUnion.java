package io.streamtable.query.union;

import io.streamtable.query.OwnNodes;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeSet;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.TransformWithState;
import org.apache.spark.sql.catalyst.plans.logical.Union;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.SparkStrategy;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * A union of inputs with state in real-time mode. Spark refuses its own union there, because a
 * shuffle of real-time mode finds its reader by the number of the task, which a union changes. The
 * optimizer moves no filter and no projection into this node.
 */
public final class StatefulUnion extends LogicalPlan {
  private static final Strategy STRATEGY = new Strategy();

  private final Seq<LogicalPlan> inputs;
  private final Seq<Attribute> output;

  /** Spark copies a node by the public constructor. */
  public StatefulUnion(Seq<LogicalPlan> inputs, Seq<Attribute> output) {
    this.inputs = inputs;
    this.output = output;
  }

  /** Whether Spark's real-time mode refuses a union of rows. */
  public static boolean isNeeded(List<Dataset<Row>> inputs) {
    return inputs.stream()
        .map(OwnNodes::analyzed)
        .anyMatch(plan -> plan.exists(node -> node instanceof TransformWithState));
  }

  /** Returns the rows of both inputs, which have equal types of columns. */
  public static Dataset<Row> of(Dataset<Row> one, Dataset<Row> other) {
    Union union = (Union) OwnNodes.analyzed(one.union(other));
    List<Attribute> output = new ArrayList<>();
    CollectionConverters.asJava(union.output()).forEach(column -> output.add(column.newInstance()));
    StatefulUnion node = new StatefulUnion(union.children(), OwnNodes.seq(output));
    return OwnNodes.rows(one.sparkSession(), node, STRATEGY);
  }

  @Override
  public Seq<LogicalPlan> children() {
    return inputs;
  }

  @Override
  public Seq<Attribute> output() {
    return output;
  }

  @Override
  public AttributeSet references() {
    return inputSet(); // all columns of the inputs stay
  }

  @Override
  public LogicalPlan withNewChildrenInternal(IndexedSeq<LogicalPlan> children) {
    return new StatefulUnion(children, output);
  }

  @Override
  public int productArity() {
    return 2;
  }

  @Override
  public Object productElement(int place) {
    return place == 0 ? inputs : output;
  }

  @Override
  public boolean canEqual(Object other) {
    return other instanceof StatefulUnion;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof StatefulUnion union
        && union.inputs.equals(inputs)
        && union.output.equals(output);
  }

  @Override
  public int hashCode() {
    return 31 * inputs.hashCode() + output.hashCode();
  }

  private static final class Strategy extends SparkStrategy {
    @Override
    public Seq<SparkPlan> apply(LogicalPlan plan) {
      if (!(plan instanceof StatefulUnion union)) {
        return OwnNodes.seq(List.of());
      }
      List<SparkPlan> inputs = new ArrayList<>();
      CollectionConverters.asJava(union.inputs).forEach(input -> inputs.add(planLater(input)));
      return OwnNodes.seq(List.of(new StatefulUnionExec(OwnNodes.seq(inputs), union.output)));
    }
  }
}
