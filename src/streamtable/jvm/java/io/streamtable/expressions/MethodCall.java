package io.streamtable.expressions;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.objects.Invoke;
import org.apache.spark.sql.catalyst.expressions.objects.StaticInvoke;
import org.apache.spark.sql.classic.ExpressionUtils;
import org.apache.spark.sql.types.AbstractDataType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.ObjectType;
import scala.Option;
import scala.jdk.javaapi.CollectionConverters;

/** Calls a Java method as a column of a DataFrame. Both execution modes support the expression. */
public final class MethodCall {
  private MethodCall() {}

  /**
   * Returns a call of a static method on expressions, which Spark may fold and move; NULL if one of
   * them is NULL. The method takes and returns the Java primitives that hold their types.
   */
  public static Expression ofStatic(
      Class<?> type, String method, DataType result, List<Expression> arguments) {
    return new StaticInvoke(
        type,
        result,
        method,
        CollectionConverters.asScala(arguments).toSeq(),
        CollectionConverters.asScala(List.<AbstractDataType>of()).toSeq(),
        true,
        false, // primitives are no nulls
        true,
        Option.empty());
  }

  /** Returns a column that calls a method of an object on columns, once per row, nulls included. */
  public static Column column(
      Object target, Class<?> type, String method, DataType result, List<Column> arguments) {
    List<Expression> expressions = new ArrayList<>();
    for (Column argument : arguments) {
      expressions.add(ExpressionUtils.expression(argument));
    }
    return ExpressionUtils.column(
        new Invoke(
            new Literal(target, new ObjectType(type)),
            method,
            result,
            CollectionConverters.asScala(expressions).toSeq(),
            CollectionConverters.asScala(List.<AbstractDataType>of()).toSeq(),
            false, // the method receives nulls: a null key or value has a meaning
            true,
            // Not deterministic, on purpose: Spark then neither duplicates nor moves the call, and
            // counters count each record once.
            false));
  }
}
