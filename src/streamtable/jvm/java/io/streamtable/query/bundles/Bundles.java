package io.streamtable.query.bundles;

import io.streamtable.operators.bundle.RowBundle;
import io.streamtable.shims.shuffle.ReadyRows;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import scala.collection.AbstractIterator;

/**
 * Rows of a shuffle, in which rows of the same group that have arrived are one bundle. It waits for
 * no row to fill a bundle: without a backlog, each row is passed on as it is.
 *
 * <p>The rows of a group keep their order. Groups are in the order of their first rows.
 */
final class Bundles extends AbstractIterator<InternalRow> {
  /** Large rows are not combined beyond this sum of their sizes. */
  private static final long MAX_BYTES = 4L << 20;

  private final ReadyRows rows;
  private final UnsafeProjection key;
  private final int size;
  private final Queue<InternalRow> taken = new ArrayDeque<>();

  Bundles(ReadyRows rows, UnsafeProjection key, int size) {
    this.rows = rows;
    this.key = key;
    this.size = size;
  }

  @Override
  public boolean hasNext() {
    return !taken.isEmpty() || rows.hasNext();
  }

  @Override
  public InternalRow next() {
    if (taken.isEmpty()) {
      take();
    }
    return taken.remove();
  }

  private void take() {
    UnsafeRow first = rows.next();
    if (!rows.isReady()) {
      taken.add(first);
      return;
    }
    List<UnsafeRow> arrived = new ArrayList<>();
    arrived.add(first);
    long bytes = first.getSizeInBytes();
    while (arrived.size() < size && bytes < MAX_BYTES && rows.isReady()) {
      UnsafeRow row = rows.next();
      bytes += row.getSizeInBytes();
      arrived.add(row);
    }
    Map<UnsafeRow, RowBundle> groups = new LinkedHashMap<>();
    for (UnsafeRow row : arrived) {
      UnsafeRow group = key.apply(row);
      RowBundle bundle = groups.get(group);
      if (bundle == null) {
        groups.put(group.copy(), new RowBundle(row));
      } else {
        bundle.add(row);
      }
    }
    taken.addAll(groups.values());
  }
}
