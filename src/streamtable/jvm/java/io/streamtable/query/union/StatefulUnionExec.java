package io.streamtable.query.union;

import io.streamtable.query.OwnNodes;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.exchange.ShuffleExchangeLike;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;
import scala.reflect.ClassTag$;

/** Runs {@link StatefulUnion}: each task has the rows of a task of one input. */
public final class StatefulUnionExec extends SparkPlan {
  private final Seq<SparkPlan> inputs;
  private final Seq<Attribute> output;

  /** Spark copies a node by the public constructor. */
  public StatefulUnionExec(Seq<SparkPlan> inputs, Seq<Attribute> output) {
    this.inputs = inputs;
    this.output = output;
  }

  @Override
  public RDD<InternalRow> doExecute() {
    List<RDD<InternalRow>> found = new ArrayList<>();
    for (SparkPlan input : CollectionConverters.asJava(inputs)) {
      RDD<InternalRow> rows = input.execute();
      boolean readsShuffle = input.exists(node -> node instanceof ShuffleExchangeLike);
      found.add(readsShuffle ? new OwnPartitions(rows) : rows);
    }
    return sparkContext().union(OwnNodes.seq(found), ClassTag$.MODULE$.apply(InternalRow.class));
  }

  @Override
  public Seq<SparkPlan> children() {
    return inputs;
  }

  @Override
  public Seq<Attribute> output() {
    return output;
  }

  @Override
  public SparkPlan withNewChildrenInternal(IndexedSeq<SparkPlan> children) {
    return new StatefulUnionExec(children, output);
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
    return other instanceof StatefulUnionExec;
  }
}
