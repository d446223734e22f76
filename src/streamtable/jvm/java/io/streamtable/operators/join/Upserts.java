package io.streamtable.operators.join;

import io.streamtable.operators.join.side.JoinSide;
import io.streamtable.operators.row.NetRows;
import io.streamtable.operators.row.RowKind;
import io.streamtable.operators.row.RowValue;
import io.streamtable.operators.row.Values;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.spark.sql.Row;

/**
 * Collects the upserts and deletes of one input of a join within a batch, by the key of their rows.
 *
 * <p>A shuffle does not preserve order, so the row of the greatest Kafka position is used. The
 * side's own state then provides the row that it replaces.
 */
final class Upserts {
  private final int[] key;
  private final int rowAt;
  private final int positionAt;
  private final Map<RowValue, Row> newest = new LinkedHashMap<>();

  /**
   * @param key positions in the row; empty if all rows are versions of one row
   * @param rowAt position of the row in an input row
   * @param positionAt position of Kafka's partition, which the offset follows
   */
  Upserts(int[] key, int rowAt, int positionAt) {
    this.key = key;
    this.rowAt = rowAt;
    this.positionAt = positionAt;
  }

  void add(Row row) {
    RowValue own = new RowValue(RowValue.columns(row.getStruct(rowAt), key));
    newest.merge(own, row, (one, other) -> AddedPositions.later(one, other, positionAt));
  }

  /**
   * Adds to `changes` the rows that the upserts add to a side and remove from it. An equal row is
   * added and removed, which cancels out.
   */
  void resolve(JoinSide side, NetRows changes) {
    for (Row input : newest.values()) {
      Row row = input.getStruct(rowAt);
      Row old = side.find(row);
      boolean deletes = RowKind.sign(input.getByte(RowKind.POSITION)) < 0;
      if (old != null && !deletes && Values.same(old, row)) {
        changes.add(row, 1);
        changes.add(row, -1);
        continue;
      }
      if (!deletes) {
        changes.add(row, 1);
      }
      if (old != null) {
        changes.add(old, -1);
      }
    }
  }
}
