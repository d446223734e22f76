package io.streamtable.testing;

import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.objects.StaticInvoke;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.types.AbstractDataType;
import org.apache.spark.sql.types.DataTypes;
import scala.Option;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;
import scala.runtime.AbstractFunction1;

/** The clock of SQL functions such as PROCTIME() in an {@link OperatorHarness}. */
public final class HarnessClock {
  private static final long MICROS_PER_MILLI = 1000;

  private HarnessClock() {}

  /** Returns the harness's processing time, in microseconds. */
  public static long micros() {
    return OperatorHarness.now() * MICROS_PER_MILLI;
  }

  /** Replaces the clock of the machine in the SQL of a session. */
  public static void register(SparkSession session) {
    session
        .sessionState()
        .functionRegistry()
        .createOrReplaceTempFunction("flink_now", new Call(), "scala_udf");
  }

  private static final class Call extends AbstractFunction1<Seq<Expression>, Expression> {
    @Override
    public Expression apply(Seq<Expression> arguments) {
      return new StaticInvoke(
          HarnessClock.class,
          DataTypes.TimestampType,
          "micros",
          arguments,
          CollectionConverters.asScala(List.<AbstractDataType>of()).toSeq(),
          false,
          true,
          false,
          Option.empty());
    }
  }
}
