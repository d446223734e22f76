package io.streamtable.operators.fanout;

import org.apache.spark.Partition;
import org.apache.spark.SparkContext;
import org.apache.spark.TaskContext;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;
import scala.reflect.ClassTag$;

/** No rows: the leaf of the plans of a {@link Recording}. */
final class RecordedRows extends RDD<InternalRow> {
  private final transient Recording recording;

  RecordedRows(SparkContext spark, Recording recording) {
    super(
        spark,
        CollectionConverters.asScala(java.util.List.<org.apache.spark.Dependency<?>>of()).toSeq(),
        ClassTag$.MODULE$.apply(InternalRow.class));
    this.recording = recording;
  }

  Recording recording() {
    return recording;
  }

  @Override
  public Iterator<InternalRow> compute(Partition split, TaskContext task) {
    return CollectionConverters.asScala(java.util.List.<InternalRow>of().iterator());
  }

  @Override
  public Partition[] getPartitions() {
    return new Partition[0];
  }
}
