package io.streamtable.operators.aggregate;

import io.streamtable.operators.row.RowKind;
import io.streamtable.query.OwnNodes;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.PreciseTimestampConversion;
import org.apache.spark.sql.classic.ExpressionUtils;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The columns that a local aggregation reads: row kind, keys, others, values of the calls. Each
 * column of a row costs a Java object, and a local time costs most, so keys that are local times
 * are read as the microseconds that hold them.
 */
public final class FoldInput {
  private final List<Attribute> given;
  private final Dataset<Row> rows;
  private final List<Aggregation> calls;

  private FoldInput(List<Attribute> given, Dataset<Row> rows, List<Aggregation> calls) {
    this.given = given;
    this.rows = rows;
    this.calls = calls;
  }

  /**
   * Selects the columns.
   *
   * @param keys positions of the keys
   * @param others positions of columns that are read besides
   */
  public static FoldInput of(
      Dataset<Row> input, int[] keys, List<Aggregation> calls, int... others) {
    List<Attribute> columns = columns(input);
    List<Column> selected = new ArrayList<>();
    selected.add(ExpressionUtils.column(columns.get(RowKind.POSITION)));
    List<Attribute> given = new ArrayList<>();
    for (int position : keys) {
      Attribute key = columns.get(position);
      given.add(key);
      selected.add(converted(key, DataTypes.TimestampNTZType, DataTypes.LongType));
    }
    List<Integer> values = new ArrayList<>();
    for (int other : others) {
      values.add(other);
    }
    List<Aggregation> moved = new ArrayList<>();
    for (Aggregation call : calls) {
      int argument = place(values, call.argument(), selected.size());
      moved.add(call.at(argument, place(values, call.filter(), selected.size())));
    }
    for (int position : values) {
      // The underscores separate internal names from the user's names.
      Column value = ExpressionUtils.column(columns.get(position));
      selected.add(value.as("__value" + selected.size()));
    }
    return new FoldInput(given, input.select(selected.toArray(Column[]::new)), moved);
  }

  public Dataset<Row> rows() {
    return rows;
  }

  /** Returns the positions of the keys in the rows, and of so many other columns after them. */
  public int[] keys(int others) {
    return IntStream.rangeClosed(1, given.size() + others).toArray();
  }

  /** Returns the calls with positions in the rows. */
  public List<Aggregation> calls() {
    return calls;
  }

  /** Returns folded rows whose keys, after the row kind, have the types of the input again. */
  public Dataset<Row> restored(Dataset<Row> folded) {
    List<Attribute> columns = columns(folded);
    Column[] selected = columns.stream().map(ExpressionUtils::column).toArray(Column[]::new);
    for (int i = 0; i < given.size(); i++) {
      DataType type = given.get(i).dataType();
      if (type.equals(DataTypes.TimestampNTZType)) {
        selected[1 + i] = converted(columns.get(1 + i), DataTypes.LongType, type);
      }
    }
    return folded.select(selected);
  }

  /** Returns the place of a position after the first columns, -1 for none; adds a new position. */
  private static int place(List<Integer> positions, int position, int first) {
    if (position < 0) {
      return position;
    }
    if (!positions.contains(position)) {
      positions.add(position);
    }
    return first + positions.indexOf(position);
  }

  /** Returns a column; a column of one type has another one, which holds the same number. */
  private static Column converted(Attribute column, DataType from, DataType to) {
    Expression value =
        column.dataType().equals(from) ? new PreciseTimestampConversion(column, from, to) : column;
    return ExpressionUtils.column(value).as(column.name());
  }

  private static List<Attribute> columns(Dataset<Row> rows) {
    return List.copyOf(CollectionConverters.asJava(OwnNodes.analyzed(rows).output()));
  }
}
