package io.streamtable.operators;

import java.io.Serializable;
import java.util.List;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.streaming.StatefulProcessorHandle;
import org.apache.spark.sql.types.StructField;

/**
 * One aggregate of one group at a time: load, add the batch's rows in any order, finish, read.
 *
 * <p>Additions and removals of a batch commute, because a shuffle promises no order.
 */
interface Accumulator extends Serializable {
  /** Columns of the group's state row that belong to this aggregate; names begin with `name`. */
  List<StructField> columns(String name);

  /** Opens further state, for aggregates that need more than columns. */
  default void open(StatefulProcessorHandle handle, String name) {}

  /** Whether the order of the rows matters; then they are not summed up in parts. */
  default boolean ordered() {
    return false;
  }

  /** What an ordered aggregate says to those who sum it up all the same. */
  private static IllegalStateException unfoldable() {
    return new IllegalStateException("values that keep their order are not summed up in parts");
  }

  /** Columns in which a {@link Partial} of this aggregate travels. */
  default List<StructField> partialColumns(String name) {
    throw unfoldable();
  }

  /** A new, empty partial. */
  default Partial partial() {
    throw unfoldable();
  }

  /** Adds what a partial has summed up; its columns begin at a position of the row. */
  default void merge(Row row, int at) {
    throw unfoldable();
  }

  /** Takes over the group's state; all columns are null for a new group. */
  void load(Object[] state, int at);

  /** Adds ({@code sign} 1) or takes back (-1) a value that is not null. */
  void add(Object value, int sign);

  /** Settles what {@link #add} only collected. Nothing is added after it. */
  default void finish() {}

  /** Writes the columns back. */
  void store(Object[] state, int at);

  /** The aggregate's value now. */
  Object result();

  /** Forgets further state of a group that is gone. */
  default void clear() {}
}
