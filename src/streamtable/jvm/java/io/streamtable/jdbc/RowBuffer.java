package io.streamtable.jdbc;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.Row;

/** Rows that wait for the next flush: the last row of each key, or all rows without a key. */
final class RowBuffer {
  private final int[] key;
  private final List<Row> all = new ArrayList<>();
  private final Map<List<Object>, Row> last = new LinkedHashMap<>();

  /** @param key positions of the key; empty for a table without a key */
  RowBuffer(int[] key) {
    this.key = key;
  }

  void add(Row row) {
    if (key.length == 0) {
      all.add(row);
      return;
    }
    List<Object> values = new ArrayList<>(key.length);
    for (int position : key) {
      Object value = row.get(position);
      values.add(value instanceof byte[] bytes ? ByteBuffer.wrap(bytes) : value);
    }
    last.put(values, row);
  }

  int size() {
    return all.size() + last.size();
  }

  Collection<Row> rows() {
    return key.length == 0 ? all : last.values();
  }

  void clear() {
    all.clear();
    last.clear();
  }
}
