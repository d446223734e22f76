package io.streamtable.operators;

import java.util.Map;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;

/** Applies operators to DataFrames. Python calls it. */
public final class Operators {
  private Operators() {}

  /**
   * Returns the output of an operator.
   *
   * @param name name of the record, an {@link OperatorSpec}, below this package:
   *     `join.JoinOperator`
   * @param values the record's components by name
   */
  public static Dataset<Row> put(Dataset<Row> input, String name, Map<String, Object> values) {
    try {
      Class<?> found = Class.forName(Operators.class.getPackageName() + "." + name);
      return NamedValues.record(found.asSubclass(OperatorSpec.class), values).over(input);
    } catch (ClassNotFoundException none) {
      throw new IllegalArgumentException("no operator " + name, none);
    }
  }
}
