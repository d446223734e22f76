package io.streamtable.watermarks;

import java.io.IOException;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.objects.Invoke;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.streaming.runtime.MicroBatchExecution;
import org.apache.spark.sql.execution.streaming.runtime.StreamingQueryWrapper;
import org.apache.spark.sql.streaming.StreamingQuery;
import org.apache.spark.sql.types.AbstractDataType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.ObjectType;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;
import scala.runtime.AbstractFunction1;

/**
 * The watermark of a batch, for expressions of the query. Tasks get it with the batch: Spark
 * serializes an expression once per stage of each batch, and it then reads the watermark that the
 * batch began with. A batch that runs again has the same one.
 */
public final class CurrentWatermark implements Serializable {
  private static final long MICROS_PER_MILLI = 1000;

  private final transient SparkSession session;
  private Long micros;

  private CurrentWatermark(SparkSession session) {
    this.session = session;
  }

  /** Registers the function, once for each type of an event time. */
  public static void register(SparkSession session) {
    register(session, "flink_current_watermark", DataTypes.TimestampNTZType);
    register(session, "flink_current_watermark_ltz", DataTypes.TimestampType);
  }

  private static void register(SparkSession session, String name, DataType result) {
    session
        .sessionState()
        .functionRegistry()
        .createOrReplaceTempFunction(name, new Call(result), "scala_udf");
  }

  /** Returns the watermark in microseconds since the epoch; null if there is none yet. */
  public Long micros() {
    return micros;
  }

  private void writeObject(ObjectOutputStream out) throws IOException {
    if (session != null) {
      micros = ofBatch();
    }
    out.defaultWriteObject();
  }

  /** Returns the watermark of the running batch of the query whose plan has this value. */
  private Long ofBatch() {
    for (StreamingQuery query : session.streams().active()) {
      if (query instanceof StreamingQueryWrapper wrapper
          && wrapper.streamingQuery() instanceof MicroBatchExecution execution
          && isIn(execution.analyzedPlan())) {
        long millis =
            execution.getLatestExecutionContext().offsetSeqMetadata().batchWatermarkMs();
        return millis == 0 ? null : millis * MICROS_PER_MILLI; // Spark begins with 0
      }
    }
    return null; // a query without a stream
  }

  private boolean isIn(LogicalPlan plan) {
    return CollectionConverters.asJava(plan.expressions()).stream().anyMatch(this::isIn)
        || CollectionConverters.asJava(plan.children()).stream().anyMatch(this::isIn);
  }

  private boolean isIn(Expression expression) {
    return (expression instanceof Literal literal && literal.value() == this)
        || CollectionConverters.asJava(expression.children()).stream().anyMatch(this::isIn);
  }

  private static final class Call extends AbstractFunction1<Seq<Expression>, Expression> {
    private final DataType result;

    Call(DataType result) {
      this.result = result;
    }

    @Override
    public Expression apply(Seq<Expression> arguments) {
      CurrentWatermark value = new CurrentWatermark(SparkSession.active());
      return new Invoke(
          new Literal(value, new ObjectType(CurrentWatermark.class)),
          "micros",
          result,
          CollectionConverters.asScala(List.<Expression>of()).toSeq(),
          CollectionConverters.asScala(List.<AbstractDataType>of()).toSeq(),
          false,
          true,
          false); // each batch has its own value
    }
  }
}
