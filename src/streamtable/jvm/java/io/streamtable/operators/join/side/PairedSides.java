package io.streamtable.operators.join.side;

import io.streamtable.operators.row.Plain;
import io.streamtable.operators.state.OrderedValue;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.streaming.StatefulProcessorHandle;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/**
 * Two sides with at most one row per join key each, in one state: it is read once per call, and
 * written once if a row has changed.
 *
 * <p>State "rows" (layout PairedJoin): (left row, right row), null for none; if matches are counted,
 * the matches of the left row and of the right row follow.
 */
public final class PairedSides implements JoinSides {
  private static final int LEFT = 0;
  private static final int RIGHT = 1;
  private static final int SIDES = 2;

  private final StructType schema;
  private final boolean counted;
  private final Side left = new Side(LEFT);
  private final Side right = new Side(RIGHT);
  private transient ValueState<Row> state;
  private transient boolean read;
  private transient boolean changed;
  /** Whether the state had a row before the call. */
  private transient boolean existed;

  /**
   * @param counted whether the number of matches of each row is stored
   */
  public PairedSides(StructType left, StructType right, boolean counted) {
    StructType rows = new StructType().add("left", left).add("right", right);
    this.schema =
        counted
            ? rows.add("leftMatches", DataTypes.LongType).add("rightMatches", DataTypes.LongType)
            : rows;
    this.counted = counted;
  }

  @Override
  public JoinSide left() {
    return left;
  }

  @Override
  public JoinSide right() {
    return right;
  }

  @Override
  public void open(StatefulProcessorHandle handle) {
    state = OrderedValue.of(handle.getValueState("rows", Plain.row(schema), TTLConfig.NONE()));
  }

  @Override
  public void begin() {
    read = false;
    changed = false;
  }

  @Override
  public void end() {
    if (!changed) {
      return;
    }
    if (left.row != null || right.row != null) {
      state.update(
          counted
              ? RowFactory.create(left.row, right.row, left.matches, right.matches)
              : RowFactory.create(left.row, right.row));
    } else if (existed) {
      state.clear();
    }
  }

  private void read() {
    if (read) {
      return;
    }
    read = true;
    Row found = state.get();
    existed = found != null;
    left.read(found);
    right.read(found);
  }

  private final class Side extends SingleSide {
    private final int at;
    private transient Row row;
    private transient long matches;

    Side(int at) {
      this.at = at;
    }

    private void read(Row found) {
      row = found == null || found.isNullAt(at) ? null : found.getStruct(at);
      matches = row == null || !counted ? 0 : found.getLong(SIDES + at);
    }

    @Override
    Row stored() {
      PairedSides.this.read();
      return row;
    }

    @Override
    long matches() {
      return matches;
    }

    @Override
    void store(Row replacing, long by) {
      PairedSides.this.read();
      row = replacing;
      matches = by;
      changed = true;
    }

    @Override
    void clear() {
      row = null;
      matches = 0;
      changed = true;
    }
  }
}
