package io.streamtable.query.bundles;

import io.streamtable.query.OwnNodes;
import java.util.List;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.plans.physical.Partitioning;
import org.apache.spark.sql.execution.ShuffledRowRDD;
import org.apache.spark.sql.execution.SparkPlan;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Seq;

/** Combines the rows that a shuffle of real-time mode delivers together into bundles of a group. */
public final class RowBundlesExec extends SparkPlan {
  private final SparkPlan shuffle;
  private final Seq<Attribute> keys;
  private final int size;

  /**
   * @param keys grouping columns of the processor that takes the bundles
   * @param size maximum number of rows that are combined
   */
  public RowBundlesExec(SparkPlan shuffle, Seq<Attribute> keys, int size) {
    this.shuffle = shuffle;
    this.keys = keys;
    this.size = size;
  }

  @Override
  public RDD<InternalRow> doExecute() {
    RDD<InternalRow> rows = shuffle.execute();
    return rows instanceof ShuffledRowRDD shuffled
        ? new BundledShuffle(shuffled, keys, shuffle.output(), size)
        : rows;
  }

  @Override
  public Seq<SparkPlan> children() {
    return OwnNodes.seq(List.of(shuffle));
  }

  @Override
  public Seq<Attribute> output() {
    return shuffle.output();
  }

  @Override
  public Partitioning outputPartitioning() {
    return shuffle.outputPartitioning();
  }

  @Override
  public SparkPlan withNewChildrenInternal(IndexedSeq<SparkPlan> children) {
    return new RowBundlesExec(children.head(), keys, size);
  }

  @Override
  public int productArity() {
    return 3;
  }

  @Override
  public Object productElement(int place) {
    return switch (place) {
      case 0 -> shuffle;
      case 1 -> keys;
      default -> size;
    };
  }

  @Override
  public boolean canEqual(Object other) {
    return other instanceof RowBundlesExec;
  }
}
