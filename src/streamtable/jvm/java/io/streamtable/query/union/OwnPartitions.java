package io.streamtable.query.union;

import io.streamtable.shims.PartitionContext;
import org.apache.spark.Partition;
import org.apache.spark.TaskContext;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import scala.collection.Iterator;
import scala.reflect.ClassTag$;

/**
 * The rows of an input of a union, computed as if a task had the number of its partition in this
 * input. The shuffles of real-time mode find their readers by this number.
 */
final class OwnPartitions extends RDD<InternalRow> {
  OwnPartitions(RDD<InternalRow> input) {
    super(input, ClassTag$.MODULE$.apply(InternalRow.class));
  }

  @Override
  public Iterator<InternalRow> compute(Partition partition, TaskContext context) {
    RDD<InternalRow> input = firstParent(elementClassTag());
    return input.iterator(partition, PartitionContext.of(context, partition.index()));
  }

  @Override
  public Partition[] getPartitions() {
    RDD<InternalRow> input = firstParent(elementClassTag());
    return input.partitions();
  }
}
