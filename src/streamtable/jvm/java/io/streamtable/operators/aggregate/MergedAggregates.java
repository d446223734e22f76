package io.streamtable.operators.aggregate;

import io.streamtable.operators.accumulator.Accumulator;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/**
 * Aggregates of parts of a group over append-only input, for aggregates whose parts merge: slices of
 * windows and sessions.
 *
 * <p>A part is an array with some columns of its owner, the number of rows, and the columns of each
 * aggregate. Those are also the columns of a {@link PartialRows partial row}, so a part can be
 * shuffled, stored and merged.
 */
public final class MergedAggregates implements Serializable {
  private final List<Aggregation> calls;
  private final List<Accumulator> accumulators;
  private final PartialRows partials;
  private final StructType schema;
  private final int rowsAt;
  private final int[] offsets;

  /**
   * @param own the owner's columns of a part, which come first
   * @param partials layout of input rows that are pre-aggregated; null for raw input rows
   */
  public MergedAggregates(List<Aggregation> calls, List<StructField> own, PartialRows partials) {
    this.calls = calls;
    this.accumulators = Aggregation.accumulators(calls, false, false);
    this.partials = partials;
    this.rowsAt = own.size();
    this.offsets = new int[calls.size()];
    List<StructField> columns = new ArrayList<>(own);
    columns.add(DataTypes.createStructField("rows", DataTypes.LongType, false));
    for (int i = 0; i < offsets.length; i++) {
      offsets[i] = columns.size();
      columns.addAll(accumulators.get(i).columns("agg" + i));
    }
    this.schema = new StructType(columns.toArray(new StructField[0]));
  }

  /** Returns the layout of partial rows with these aggregates. */
  public static PartialRows partials(int keys, List<Aggregation> calls) {
    return new PartialRows(keys, Aggregation.accumulators(calls, false, false));
  }

  /** Returns the columns of a part. */
  public StructType schema() {
    return schema;
  }

  /** Returns the number of aggregates. */
  public int count() {
    return offsets.length;
  }

  /** Returns a part without rows. */
  public Object[] empty() {
    Object[] part = new Object[schema.length()];
    part[rowsAt] = 0L;
    return part;
  }

  /** Returns a part that was stored as a row. */
  public Object[] part(Row stored) {
    Object[] part = new Object[stored.length()];
    for (int i = 0; i < part.length; i++) {
      part[i] = stored.get(i);
    }
    return part;
  }

  /** Returns the number of rows of a part. */
  public long rows(Object[] part) {
    return (Long) part[rowsAt];
  }

  /** Returns the number of rows in an input row, raw or pre-aggregated. */
  public long weight(Row row) {
    return partials == null ? 1 : row.getLong(partials.rowsAt());
  }

  /** Adds an input row, raw or pre-aggregated, to a part. */
  public void add(Object[] part, Row row) {
    for (int i = 0; i < offsets.length; i++) {
      Accumulator accumulator = accumulators.get(i);
      accumulator.load(part, offsets[i]);
      if (partials != null) {
        accumulator.merge(row, partials.at(i));
      } else {
        Object value = calls.get(i).value(row);
        if (value != null) {
          accumulator.add(value, 1);
        }
      }
      accumulator.store(part, offsets[i]);
    }
    part[rowsAt] = rows(part) + weight(row);
  }

  /** Adds a part to another. */
  public void merge(Object[] into, Object[] part) {
    Row row = RowFactory.create(part);
    for (int i = 0; i < offsets.length; i++) {
      accumulators.get(i).load(into, offsets[i]);
      accumulators.get(i).merge(row, offsets[i]);
      accumulators.get(i).store(into, offsets[i]);
    }
    into[rowsAt] = rows(into) + rows(part);
  }

  /** Copies the results of parts together to a row. */
  public void results(Iterable<Object[]> parts, Object[] row, int at) {
    Object[] none = empty();
    for (int i = 0; i < offsets.length; i++) {
      Accumulator accumulator = accumulators.get(i);
      accumulator.load(none, offsets[i]);
      for (Object[] part : parts) {
        accumulator.merge(RowFactory.create(part), offsets[i]);
      }
      row[at + i] = accumulator.result();
    }
  }
}
