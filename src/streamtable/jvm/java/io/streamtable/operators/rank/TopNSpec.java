package io.streamtable.operators.rank;

import io.streamtable.operators.row.RowOrder;
import io.streamtable.operators.state.ExpiringState;
import java.io.Serializable;
import org.apache.spark.sql.types.StructType;

/**
 * The specification of a {@link TopNProcessor} or a {@link TopOneProcessor}.
 *
 * @param row the input's columns without the row kind
 * @param skip number of first rows to skip
 * @param limit maximum number of rows after those
 * @param retracting whether the input may contain retractions
 * @param begins whether the first change of a row may be a retraction; it is then ignored
 * @param rowKey positions that identify a row; null if equal rows may occur. See {@link
 *     io.streamtable.operators.row.InexactRetractions}
 * @param ranked whether the output ends with each row's rank, from 1
 * @param outputKey positions of the key columns that combine a delete and an insert into an update;
 *     may be null
 * @param before whether to emit update-before rows
 * @param ttl see {@link ExpiringState#of}
 */
public record TopNSpec(
    StructType row,
    RowOrder order,
    int skip,
    int limit,
    boolean retracting,
    boolean begins,
    int[] rowKey,
    boolean ranked,
    int[] outputKey,
    boolean before,
    long ttl)
    implements Serializable {
  /** Returns the rank of the last visible row. */
  public int end() {
    return skip + limit;
  }

  /** Returns whether the output is the single first row, without rank, of append-only input. */
  boolean isOneAdded() {
    return end() == 1 && !retracting && !ranked;
  }
}
