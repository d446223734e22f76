package io.streamtable.operators.accumulator;

import java.io.Serializable;
import java.util.List;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.streaming.StatefulProcessorHandle;
import org.apache.spark.sql.types.StructField;

/**
 * One aggregate of one group at a time: load, add the batch's rows in any order, finish, read.
 *
 * <p>Additions and retractions of a batch commute, because a shuffle does not preserve order.
 */
public interface Accumulator extends Serializable {
  /**
   * Returns the columns of this aggregate in the group's state row; their names begin with `name`.
   */
  List<StructField> columns(String name);

  /** Opens additional state, for aggregates that need more than columns. */
  default void open(StatefulProcessorHandle handle, String name) {}

  /** Returns whether the order of the rows matters. Such aggregates have no local aggregation. */
  default boolean ordered() {
    return false;
  }

  /** The error of an ordered aggregate that is used in local aggregation. */
  private static IllegalStateException unfoldable() {
    return new IllegalStateException("values that keep their order are not summed up in parts");
  }

  /** Returns the columns of a {@link Partial} of this aggregate in shuffled rows. */
  default List<StructField> partialColumns(String name) {
    throw unfoldable();
  }

  /** Returns a new, empty partial. */
  default Partial partial() {
    throw unfoldable();
  }

  /** Adds a partial, whose columns begin at a position of the row. */
  default void merge(Row row, int at) {
    throw unfoldable();
  }

  /** Loads the group's state. All columns are null for a new group. */
  void load(Object[] state, int at);

  /** Adds ({@code sign} 1) or retracts (-1) a value that is not null. */
  void add(Object value, int sign);

  /** Applies the changes that {@link #add} only collected. Nothing is added after this call. */
  default void finish() {}

  /** Writes the columns to the state row. */
  void store(Object[] state, int at);

  /** Returns the aggregate's current value. */
  Object result();

  /** Deletes the additional state of a group that has been removed. */
  default void clear() {}
}
