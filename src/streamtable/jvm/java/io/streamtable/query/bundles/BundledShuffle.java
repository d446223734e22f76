package io.streamtable.query.bundles;

import io.streamtable.query.OwnNodes;
import io.streamtable.shims.shuffle.ReadyRows;
import java.util.List;
import org.apache.spark.Partition;
import org.apache.spark.TaskContext;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.execution.CoalescedPartitionSpec;
import org.apache.spark.sql.execution.ShuffledRowRDD;
import org.apache.spark.sql.execution.ShuffledRowRDDPartition;
import scala.collection.Iterator;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;
import scala.reflect.ClassTag$;

/** The rows of a shuffle of real-time mode in bundles. */
final class BundledShuffle extends RDD<InternalRow> {
  private final transient ShuffledRowRDD shuffled;
  private final Seq<Attribute> keys;
  private final Seq<Attribute> columns;
  private final int size;

  BundledShuffle(
      ShuffledRowRDD shuffled, Seq<Attribute> keys, Seq<Attribute> columns, int size) {
    super(
        shuffled.context(),
        shuffled.dependencies(),
        ClassTag$.MODULE$.apply(InternalRow.class));
    this.shuffled = shuffled;
    this.keys = keys;
    this.columns = columns;
    this.size = size;
  }

  @Override
  public Iterator<InternalRow> compute(Partition partition, TaskContext context) {
    // Real-time mode has no adaptive execution, so each partition is read as a whole.
    var range = (CoalescedPartitionSpec) ((ShuffledRowRDDPartition) partition).spec();
    ReadyRows rows =
        ReadyRows.of(
            dependencies().head(), range.startReducerIndex(), range.endReducerIndex(), context);
    List<Expression> expressions = List.copyOf(CollectionConverters.asJava(keys));
    return new Bundles(rows, UnsafeProjection.create(OwnNodes.seq(expressions), columns), size);
  }

  @Override
  public Partition[] getPartitions() {
    return shuffled.partitions();
  }

  @Override
  public Seq<String> getPreferredLocations(Partition partition) {
    return shuffled.preferredLocations(partition);
  }
}
