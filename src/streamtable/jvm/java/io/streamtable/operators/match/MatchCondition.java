package io.streamtable.operators.match;

import io.streamtable.operators.SparkFilter;
import java.io.Serializable;
import java.util.List;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.encoders.ExpressionEncoder;
import org.apache.spark.sql.types.StructType;

/** The condition of a pattern variable. */
final class MatchCondition implements Serializable {
  private final int column;
  private final List<MatchValue> values;
  private final StructType schema;
  private final SparkFilter filter;
  private transient ExpressionEncoder.Serializer<Row> rows;

  MatchCondition(SparkSession spark, MatchDefinition definition) {
    column = definition.column();
    values = definition.values();
    schema = definition.text() == null ? null : StructType.fromDDL(definition.valuesDdl());
    filter = schema == null ? null : SparkFilter.of(spark, definition.text(), schema);
  }

  void open() {
    if (filter != null) {
      filter.open();
      rows = ExpressionEncoder.apply(schema).createSerializer();
    }
  }

  /** Returns whether the newest row fits the variable, behind the rows of a match. */
  boolean holds(PartialMatch match, int variable, MatchRows known) {
    if (column >= 0) {
      return Boolean.TRUE.equals(known.newest().get(column));
    }
    if (filter == null) {
      return true;
    }
    Object[] found = new Object[values.size()];
    for (int i = 0; i < found.length; i++) {
      found[i] = values.get(i).of(match, variable, known);
    }
    return filter.holds(rows.apply(RowFactory.create(found)));
  }
}
