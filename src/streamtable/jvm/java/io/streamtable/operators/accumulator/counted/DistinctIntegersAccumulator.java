package io.streamtable.operators.accumulator.counted;

import io.streamtable.operators.accumulator.Accumulator;
import io.streamtable.operators.accumulator.Partial;
import io.streamtable.operators.encoding.DirectEncoder;
import io.streamtable.operators.row.Numbers;
import java.util.List;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.streaming.StatefulProcessorHandle;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructField;
import org.roaringbitmap.RoaringBitmap;

/**
 * Distinct integers of append-only input, as bitmaps.
 *
 * <p>A chunk is read and written once per batch, however many of its values occur. Measurements:
 * twice as fast as one state entry per value, and far smaller if values are close together.
 */
public final class DistinctIntegersAccumulator implements Accumulator {
  private final Accumulator inner;
  private final DataType type;
  private final IntegerChunks pending = new IntegerChunks();
  private transient MapState<Long, byte[]> chunks;

  public DistinctIntegersAccumulator(DataType type, Accumulator inner) {
    this.type = type;
    this.inner = inner;
  }

  @Override
  public List<StructField> columns(String name) {
    return inner.columns(name);
  }

  @Override
  public List<StructField> partialColumns(String name) {
    return List.of(IntegerChunks.column(name + "_chunks"));
  }

  @Override
  public Partial partial() {
    return new IntegerChunks();
  }

  @Override
  public void merge(Row row, int at) {
    pending.include(row, at);
  }

  @Override
  public void open(StatefulProcessorHandle handle, String name) {
    inner.open(handle, name);
    chunks =
        handle.getMapState(
            name + "_chunks", DirectEncoder.longs(), DirectEncoder.binaries(), TTLConfig.NONE());
  }

  @Override
  public void load(Object[] state, int at) {
    inner.load(state, at);
  }

  @Override
  public void add(Object value, int sign) {
    pending.add(value, sign);
  }

  @Override
  public void finish() {
    pending.drain(this::settle);
    inner.finish();
  }

  private void settle(Long chunk, RoaringBitmap seen) {
    byte[] stored = chunks.getValue(chunk);
    RoaringBitmap known = stored == null ? new RoaringBitmap() : IntegerChunks.read(stored);
    RoaringBitmap fresh = RoaringBitmap.andNot(seen, known);
    if (!fresh.isEmpty()) {
      long first = IntegerChunks.first(chunk);
      fresh.forEach((int low) -> inner.add(Numbers.boxed(first | low, type), 1));
      known.or(fresh);
      chunks.updateValue(chunk, IntegerChunks.write(known));
    }
  }

  @Override
  public void store(Object[] state, int at) {
    inner.store(state, at);
  }

  @Override
  public Object result() {
    return inner.result();
  }

  @Override
  public void clear() {
    inner.clear();
    chunks.clear();
  }
}
