package io.streamtable.operators.fanout;

import io.streamtable.expressions.MethodCall;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/** Applies queries to rows, as an expression of Spark's generated code. */
public final class PerRow implements Serializable {
  private static final String ROWS = "__rows";

  /** A query and the rows that it takes. */
  record Own(QueryRows query, RowBytes input) implements Serializable {}

  private final ArrayList<QueryRows> queries;
  private final TreeMap<Integer, Own> byNumber;
  private transient boolean open;

  private PerRow(Collection<? extends QueryRows> queries, Map<Integer, Own> byNumber) {
    this.queries = new ArrayList<>(queries);
    this.byNumber = new TreeMap<>(byNumber);
  }

  /** Returns the rows that all queries give for each row of an input that they share. */
  static Dataset<Row> ofAll(
      Dataset<Row> input, List<? extends QueryRows> queries, StructType output) {
    Column row =
        functions.struct(
            Arrays.stream(input.columns())
                .map(name -> input.col("`" + name.replace("`", "``") + "`"))
                .toArray(Column[]::new));
    return call(input, new PerRow(queries, Map.of()), "all", output, List.of(row));
  }

  /**
   * Returns the rows that queries give for rows of their own.
   *
   * @param input the number of a query, and the bytes of a row
   * @param own by the number of the query
   */
  static Dataset<Row> ofEach(Dataset<Row> input, Map<Integer, Own> own, StructType output) {
    List<QueryRows> queries = own.values().stream().map(Own::query).toList();
    String[] names = input.columns();
    List<Column> columns = List.of(input.col(names[0]), input.col(names[1]));
    return call(input, new PerRow(queries, own), "own", output, columns);
  }

  private static Dataset<Row> call(
      Dataset<Row> input,
      PerRow target,
      String method,
      StructType output,
      List<Column> arguments) {
    Column rows =
        MethodCall.column(
            target,
            PerRow.class,
            method,
            DataTypes.createArrayType(output, false),
            arguments);
    return input.select(rows.as(ROWS)).select(functions.inline(functions.col(ROWS)));
  }

  /** Returns the rows of all queries for one input row, in the order of the queries. */
  public ArrayData all(InternalRow input) {
    open();
    List<InternalRow> found = new ArrayList<>(queries.size());
    for (QueryRows query : queries) {
      query.apply(input, found);
    }
    return new GenericArrayData(found.toArray());
  }

  /** Returns the rows of one query for the bytes of a row. */
  public ArrayData own(int number, byte[] bytes) {
    open();
    List<InternalRow> found = new ArrayList<>(2);
    Own own = byNumber.get(number);
    own.query().apply(own.input().binary(bytes), found);
    return new GenericArrayData(found.toArray());
  }

  private void open() {
    if (!open) {
      TaskContext task = TaskContext.get();
      queries.forEach(query -> query.open(task == null ? 0 : task.partitionId()));
      open = true;
    }
  }
}
