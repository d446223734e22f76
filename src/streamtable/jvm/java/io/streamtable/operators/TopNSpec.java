package io.streamtable.operators;

import java.io.Serializable;
import org.apache.spark.sql.types.StructType;

/**
 * What a {@link TopNProcessor} or a {@link TopOneProcessor} does.
 *
 * @param row the input's columns without the row kind
 * @param skip how many of the first rows are left out
 * @param limit how many rows come after those
 * @param retracting whether input rows can be taken back
 * @param ranked whether the output ends with each row's place, from 1
 * @param outputKey positions of columns that make an update of a delete and an insert; may be null
 * @param before whether an update comes with the row it replaces
 * @param ttl see {@link ExpiringState#of}
 */
record TopNSpec(
    StructType row,
    RowOrder order,
    int skip,
    int limit,
    boolean retracting,
    boolean ranked,
    int[] outputKey,
    boolean before,
    long ttl)
    implements Serializable {
  /** The place of the last row that is seen. */
  int end() {
    return skip + limit;
  }

  /** Whether it is the very first row, as it is, of rows that are only added. */
  boolean isOneAdded() {
    return end() == 1 && !retracting && !ranked;
  }
}
