package io.streamtable.jdbc;

import java.io.Serializable;
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
    long values = upper - lower + 1;
    long tasks = Math.min(partitions, values);
    long first = lower;
    for (long task = 0; task < tasks; task++) {
      long size = values / tasks + (task < values % tasks ? 1 : 0);
      ranges.add(new long[] {first, first + size - 1});
      first += size;
    }
    return ranges;
  }
}
