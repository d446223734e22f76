package io.streamtable.operators;

import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.spark.sql.Row;

/**
 * The upserts and deletes of one input of a join within a batch, by the key of their rows.
 *
 * <p>A shuffle promises no order, so the row of the greatest Kafka position counts; the side's own
 * state then tells what it replaces.
 */
final class Upserts {
  private final int[] key;
  private final int rowAt;
  private final int positionAt;
  private final Map<RowValue, Row> newest = new LinkedHashMap<>();

  /**
   * @param key positions in the row; none where all rows are versions of one
   * @param rowAt where the row stands in an input row
   * @param positionAt where Kafka's partition stands, before the offset
   */
  Upserts(int[] key, int rowAt, int positionAt) {
    this.key = key;
    this.rowAt = rowAt;
    this.positionAt = positionAt;
  }

  void add(Row row) {
    RowValue own = new RowValue(RowValue.columns(row.getStruct(rowAt), key));
    newest.merge(own, row, (one, other) -> isLater(one, other) ? one : other);
  }

  /** Puts into `changes` what the upserts add to a side and take from it; an equal row is neither. */
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

  private boolean isLater(Row row, Row other) {
    int order = Integer.compare(row.getInt(positionAt), other.getInt(positionAt));
    return order != 0
        ? order > 0
        : row.getLong(positionAt + 1) > other.getLong(positionAt + 1);
  }
}
