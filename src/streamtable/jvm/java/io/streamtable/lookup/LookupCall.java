package io.streamtable.lookup;

import io.streamtable.expressions.MethodCall;
import io.streamtable.metrics.Counters;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.util.TaskCompletionListener;

/** Looks up each row of a query in a {@link LookupTable}, with cache and retries. */
public final class LookupCall implements Serializable {
  /** Counter of keys that the cache had. */
  public static final String HITS = "hitCount";
  /** Counter of keys that the cache did not have. */
  public static final String MISSES = "missCount";
  /** Counter of lookups in the table. */
  public static final String LOADS = "loadCount";
  /** Counter of lookups that failed. */
  public static final String FAILURES = "numLoadFailures";

  private final String id;
  private final LookupTable table;
  private final CacheSpec cacheSpec;
  private final Matches matches;
  private final DataType[] keyTypes;
  private final int attempts;
  private final long delayMs;
  private final Counters counters;

  private transient boolean open;
  private transient LookupReader reader;
  private transient LookupCache cache;

  private LookupCall(
      String id,
      LookupTable table,
      CacheSpec cacheSpec,
      Matches matches,
      DataType[] keyTypes,
      int attempts,
      long delayMs,
      Counters counters) {
    this.id = id;
    this.table = table;
    this.cacheSpec = cacheSpec;
    this.matches = matches;
    this.keyTypes = keyTypes;
    this.attempts = attempts;
    this.delayMs = delayMs;
    this.counters = counters;
  }

  /**
   * Returns a column with the array of matches of each row.
   *
   * @param id distinguishes the lookups of this process
   * @param cacheSpec null for no cache
   * @param attempts number of lookups of a key without rows, at least 1
   * @param delayMs wait between them
   * @param keyDdl the key columns
   * @param matchDdl the columns of a match
   * @param arguments a struct of the key, and a struct of the columns that the condition reads
   */
  public static Column column(
      String id,
      LookupTable table,
      CacheSpec cacheSpec,
      Matches matches,
      int attempts,
      long delayMs,
      Counters counters,
      String keyDdl,
      String matchDdl,
      List<Column> arguments) {
    List<DataType> types = new ArrayList<>();
    for (StructField field : StructType.fromDDL(keyDdl).fields()) {
      types.add(field.dataType());
    }
    LookupCall call =
        new LookupCall(
            id,
            table,
            cacheSpec,
            matches,
            types.toArray(DataType[]::new),
            attempts,
            delayMs,
            counters);
    DataType result = new ArrayType(StructType.fromDDL(matchDdl), false);
    return MethodCall.column(call, LookupCall.class, "find", result, arguments);
  }

  /** Called by generated code. */
  public ArrayData find(InternalRow key, InternalRow left) {
    if (key.anyNull()) {
      return new GenericArrayData(new Object[0]);
    }
    open();
    return new GenericArrayData(matches.of(left, rows(key)));
  }

  private List<InternalRow> rows(InternalRow key) {
    if (cache == null) {
      return loaded(key);
    }
    Object values = values(key);
    List<InternalRow> rows = cache.get(values, System.currentTimeMillis());
    counters.add(rows == null ? MISSES : HITS, 1);
    if (rows == null) {
      rows = loaded(key);
      cache.put(values, rows, System.currentTimeMillis());
    }
    return rows;
  }

  private List<InternalRow> loaded(InternalRow key) {
    try {
      List<InternalRow> rows = reader.find(key);
      for (int attempt = 1; rows.isEmpty() && attempt < attempts; attempt++) {
        pause();
        rows = reader.find(key);
      }
      counters.add(LOADS, 1);
      return rows;
    } catch (RuntimeException e) {
      counters.add(FAILURES, 1);
      throw e;
    }
  }

  private void pause() {
    try {
      Thread.sleep(delayMs);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("stopped between two lookups", e);
    }
  }

  /** Returns the values of a key, which compare by content and do not refer to Spark's buffers. */
  private List<Object> values(InternalRow key) {
    InternalRow copied = key.copy();
    List<Object> values = new ArrayList<>(keyTypes.length);
    for (int i = 0; i < keyTypes.length; i++) {
      Object value = copied.get(i, keyTypes[i]);
      values.add(value instanceof byte[] bytes ? java.nio.ByteBuffer.wrap(bytes) : value);
    }
    return values;
  }

  private void open() {
    if (open) {
      return;
    }
    open = true;
    TaskContext task = TaskContext.get();
    int partition = task == null ? 0 : task.partitionId();
    matches.open();
    reader = table.open();
    if (cacheSpec != null) {
      cache = TaskCaches.take(id, partition, cacheSpec);
    }
    if (task != null) {
      TaskCompletionListener close = ended -> close(partition);
      task.addTaskCompletionListener(close);
    }
  }

  private void close(int partition) {
    open = false;
    reader.close();
    if (cache != null) {
      TaskCaches.giveBack(id, partition, cache);
      cache = null;
    }
  }
}
