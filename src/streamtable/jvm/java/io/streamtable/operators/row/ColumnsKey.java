package io.streamtable.operators.row;

import java.util.Arrays;
import org.apache.spark.sql.Row;

/**
 * Some columns of a row as a key of maps in memory. The values have Java's equality: byte arrays,
 * also within others, differ from their copies; see {@link RowValue}.
 */
public final class ColumnsKey {
  private final Object[] values;
  private final int hash;

  public ColumnsKey(Row row, int[] positions) {
    values = new Object[positions.length];
    for (int i = 0; i < values.length; i++) {
      values[i] = row.get(positions[i]);
    }
    hash = Arrays.hashCode(values);
  }

  /** Returns the values, which must not be changed. */
  public Object[] values() {
    return values;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof ColumnsKey key
        && hash == key.hash
        && Arrays.equals(values, key.values);
  }

  @Override
  public int hashCode() {
    return hash;
  }
}
