package io.streamtable.query;

import io.streamtable.codec.TimeText;
import io.streamtable.expressions.MethodCall;
import io.streamtable.functions.LocalClock;
import io.streamtable.functions.LocalTexts;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.Substring;
import org.apache.spark.sql.catalyst.expressions.SubtractTimestamps;
import org.apache.spark.sql.catalyst.expressions.TimestampAdd;
import org.apache.spark.sql.catalyst.expressions.TimestampAddInterval;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.DayTimeIntervalType;
import org.apache.spark.unsafe.types.UTF8String;
import scala.Function1;
import scala.runtime.AbstractPartialFunction;

/**
 * Computes with local times (TIMESTAMP_NTZ) as numbers of microseconds. Spark adds and subtracts them
 * with the calendar of java.time in UTC, where the result is the same, because each day has 24 hours.
 * Spark also converts moments to local times with that calendar, and writes texts with its formatters.
 */
final class LocalTimes extends Rule<LogicalPlan> {
  private static final Replaced REPLACED = new Replaced();

  @Override
  public LogicalPlan apply(LogicalPlan plan) {
    return plan.transformAllExpressions(REPLACED);
  }

  private static final class Replaced extends AbstractPartialFunction<Expression, Expression> {
    @Override
    public boolean isDefinedAt(Expression expression) {
      return replaced(expression) != null;
    }

    @Override
    public <A extends Expression, B> B applyOrElse(A expression, Function1<A, B> otherwise) {
      Expression found = replaced(expression);
      @SuppressWarnings("unchecked") // B is a supertype of Expression
      B result = found == null ? otherwise.apply(expression) : (B) found;
      return result;
    }
  }

  /** Returns an expression with the same value; null if there is none. */
  private static Expression replaced(Expression expression) {
    if (expression instanceof TimestampAddInterval sum
        && isLocal(sum.start())
        && sum.interval().dataType() instanceof DayTimeIntervalType) {
      return exact("addExact", sum.dataType(), sum.start(), sum.interval());
    }
    if (expression instanceof TimestampAdd sum
        && isLocal(sum.timestamp())
        && sum.unit().equalsIgnoreCase("MICROSECOND")
        && sum.quantity().dataType().equals(DataTypes.LongType)) {
      return exact("addExact", sum.dataType(), sum.timestamp(), sum.quantity());
    }
    if (expression instanceof SubtractTimestamps difference
        && isLocal(difference.left())
        && isLocal(difference.right())
        && difference.dataType() instanceof DayTimeIntervalType) {
      return exact("subtractExact", difference.dataType(), difference.left(), difference.right());
    }
    if (expression instanceof Substring part && part.str() instanceof Cast cast) {
      return part(part, cast);
    }
    if (expression instanceof Cast cast) {
      return isLocal(cast) && isMoment(cast.child()) ? local(cast) : text(cast);
    }
    return null;
  }

  /** Returns the local time of a moment in the time zone of a cast. */
  private static Expression local(Cast cast) {
    Expression zone = new Literal(UTF8String.fromString(cast.zoneId().getId()), DataTypes.StringType);
    List<Expression> arguments = List.of(cast.child(), zone);
    return MethodCall.ofStatic(LocalClock.class, "local", DataTypes.TimestampNTZType, arguments);
  }

  /** Returns the local time that a cast makes a text of; null if the cast is another one. */
  private static Expression timeOf(Cast cast) {
    if (!isText(cast)) {
      return null;
    }
    return isLocal(cast.child()) ? cast.child() : isMoment(cast.child()) ? local(cast) : null;
  }

  private static Expression text(Cast cast) {
    Expression time = timeOf(cast);
    return time == null ? null : text("time", List.of(time));
  }

  private static Expression part(Substring part, Cast cast) {
    Expression time = timeOf(cast);
    if (time == null
        || !(part.pos() instanceof Literal start && start.value() instanceof Integer first)
        || !(part.len() instanceof Literal wanted && wanted.value() instanceof Integer length)
        || first < 1
        || length < 0
        || first - 1 > TimeText.LENGTH - length) {
      return null;
    }
    Expression from = new Literal(first - 1, DataTypes.IntegerType);
    return text("part", List.of(time, from, wanted));
  }

  private static Expression text(String method, List<Expression> arguments) {
    return MethodCall.ofStatic(LocalTexts.class, method, DataTypes.StringType, arguments);
  }

  private static boolean isMoment(Expression expression) {
    return expression.dataType().equals(DataTypes.TimestampType);
  }

  private static boolean isText(Expression expression) {
    return expression.dataType().equals(DataTypes.StringType);
  }

  private static boolean isLocal(Expression expression) {
    return expression.dataType().equals(DataTypes.TimestampNTZType);
  }

  /** Returns a call of a method of Math; Spark holds all of these types in a long. */
  private static Expression exact(
      String method, DataType result, Expression left, Expression right) {
    return MethodCall.ofStatic(Math.class, method, result, List.of(left, right));
  }
}
