package io.streamtable.jdbc;

import java.io.Serializable;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.types.StructType;

/**
 * A bounded scan of a table.
 *
 * @param rowDdl the columns to read, with their declared types
 * @param partitionColumn a number column that divides the scan; null for one task
 * @param partitions number of tasks
 * @param lower smallest value of the column that is read
 * @param upper largest value of the column that is read
 * @param fetchSize rows of one round trip; 0 for the driver's default
 * @param autoCommit whether the connection is in auto-commit mode
 */
public record ScanSpec(
    JdbcTable table,
    String rowDdl,
    String partitionColumn,
    int partitions,
    long lower,
    long upper,
    int fetchSize,
    boolean autoCommit)
    implements Serializable {

  StructType schema() {
    return StructType.fromDDL(rowDdl);
  }

  /** The first and last value of each task, both inclusive. Sizes differ by one at most. */
  List<long[]> ranges() {
    List<long[]> ranges = new ArrayList<>();
    BigInteger start = BigInteger.valueOf(lower);
    BigInteger values = BigInteger.valueOf(upper).subtract(start).add(BigInteger.ONE);
    BigInteger tasks = BigInteger.valueOf(partitions).min(values);
    BigInteger[] sizes = values.divideAndRemainder(tasks);
    for (BigInteger first = start; ranges.size() < tasks.intValue(); ) {
      int more = ranges.size() < sizes[1].intValue() ? 1 : 0;
      BigInteger next = first.add(sizes[0]).add(BigInteger.valueOf(more));
      ranges.add(new long[] {first.longValue(), next.subtract(BigInteger.ONE).longValue()});
      first = next;
    }
    return ranges;
  }
}
