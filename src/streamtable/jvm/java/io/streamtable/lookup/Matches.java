package io.streamtable.lookup;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/** Turns the rows that a lookup has found into the matches of an input row. */
public final class Matches implements Serializable {
  private final List<RowStage> stages;
  private final RowStage pairs;
  private transient JoinedRow pair;

  private Matches(List<RowStage> stages, RowStage pairs) {
    this.stages = stages;
    this.pairs = pairs;
  }

  /**
   * Creates the steps from a looked-up row to a match.
   *
   * @param tableDdl the columns that the lookup reads
   * @param conditions the filter of each step of the query over the table; null for none
   * @param outputs the columns of each step
   * @param leftDdl the columns of the input row that the condition reads
   * @param condition the join condition in addition to the key; null for none
   */
  public static Matches create(
      SparkSession spark,
      String tableDdl,
      List<String> conditions,
      List<List<String>> outputs,
      String leftDdl,
      String condition) {
    StructType columns = StructType.fromDDL(tableDdl);
    List<RowStage> stages = new ArrayList<>();
    for (int i = 0; i < outputs.size(); i++) {
      RowStage stage = RowStage.of(spark, columns, conditions.get(i), outputs.get(i));
      stages.add(stage);
      columns = stage.schema();
    }
    RowStage pairs = null;
    if (condition != null) {
      StructType both = StructType.fromDDL(leftDdl);
      for (StructField column : columns.fields()) {
        both = both.add(column);
      }
      pairs = RowStage.of(spark, both, condition, null);
    }
    return new Matches(stages, pairs);
  }

  void open() {
    stages.forEach(RowStage::open);
    if (pairs != null) {
      pairs.open();
      pair = new JoinedRow();
    }
  }

  /** Returns the matches of an input row among the rows with its key. */
  Object[] of(InternalRow left, List<InternalRow> found) {
    List<InternalRow> matches = new ArrayList<>(found.size());
    for (InternalRow row : found) {
      InternalRow match = staged(row);
      if (match != null && (pairs == null || pairs.holds(pair.apply(left, match)))) {
        matches.add(match);
      }
    }
    return matches.toArray();
  }

  private InternalRow staged(InternalRow row) {
    InternalRow current = row;
    for (RowStage stage : stages) {
      if (!stage.holds(current)) {
        return null;
      }
      current = stage.output(current);
    }
    return current;
  }
}
