package io.streamtable.query;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeSet;
import org.apache.spark.sql.catalyst.expressions.DirectShufflePartitionID;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.SparkPartitionID;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.RepartitionByExpression;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.SparkStrategy;
import org.apache.spark.sql.internal.SQLConf;
import scala.Option;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Rows that are shuffled once and read in several places of a plan. Spark runs equal shuffles of a
 * plan once. They stay equal, because the optimizer moves no filter and no projection into this
 * node. The shuffle moves no rows: a task of a reader gets the rows of one task, in their order.
 */
public final class StoredRows extends LogicalPlan {
  private static final Strategy STRATEGY = new Strategy();

  private final LogicalPlan rows;

  /** Spark copies a node by the public constructor. */
  public StoredRows(LogicalPlan rows) {
    this.rows = rows;
  }

  /** Returns rows that may be read in several places of a plan of the same session. */
  public static Dataset<Row> of(Dataset<Row> rows) {
    return OwnNodes.rows(rows.sparkSession(), new StoredRows(OwnNodes.analyzed(rows)), STRATEGY);
  }

  /** Returns the rows for which a condition is true; all rows if it is not deterministic. */
  public static Dataset<Row> filtered(Dataset<Row> rows, String condition) {
    Dataset<Row> found = rows.where(condition);
    return ((Filter) OwnNodes.analyzed(found)).condition().deterministic() ? found : rows;
  }

  @Override
  public Seq<LogicalPlan> children() {
    return OwnNodes.seq(List.of(rows));
  }

  @Override
  public Seq<Attribute> output() {
    return rows.output();
  }

  @Override
  public AttributeSet references() {
    return rows.outputSet(); // no projection of a reader is moved below
  }

  @Override
  public LogicalPlan withNewChildrenInternal(IndexedSeq<LogicalPlan> children) {
    return new StoredRows(children.head());
  }

  @Override
  public int productArity() {
    return 1;
  }

  @Override
  public Object productElement(int place) {
    return rows;
  }

  @Override
  public boolean canEqual(Object other) {
    return other instanceof StoredRows;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof StoredRows stored && stored.rows.equals(rows);
  }

  @Override
  public int hashCode() {
    return rows.hashCode();
  }

  /** Plans the node as a shuffle by the number of the task. */
  private static final class Strategy extends SparkStrategy {
    @Override
    public Seq<SparkPlan> apply(LogicalPlan plan) {
      if (!(plan instanceof StoredRows stored)) {
        return OwnNodes.seq(List.of());
      }
      List<NamedExpression> columns = new ArrayList<>();
      CollectionConverters.asJava(stored.rows.output()).forEach(columns::add);
      List<NamedExpression> numbered = new ArrayList<>(columns);
      Alias number =
          new Alias(
              new SparkPartitionID(),
              "__task",
              NamedExpression.newExprId(),
              OwnNodes.seq(List.of()),
              Option.empty(),
              OwnNodes.seq(List.of()));
      numbered.add(number);
      Attribute task = number.toAttribute();
      LogicalPlan shuffled =
          new RepartitionByExpression(
              OwnNodes.seq(List.<Expression>of(new DirectShufflePartitionID(task))),
              new Project(OwnNodes.seq(numbered), stored.rows),
              Option.apply(SQLConf.get().numShufflePartitions()),
              Option.empty());
      return OwnNodes.seq(List.of(planLater(new Project(OwnNodes.seq(columns), shuffled))));
    }
  }
}
