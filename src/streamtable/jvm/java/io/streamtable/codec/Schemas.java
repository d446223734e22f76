package io.streamtable.codec;

import org.apache.spark.sql.types.StructType;

/** Parses schemas that Python passes. */
public final class Schemas {
  private Schemas() {}

  /**
   * Returns the columns of a DDL text, which is empty if a query needs no column of a key or value.
   */
  public static StructType of(String ddl) {
    return ddl.isEmpty() ? new StructType() : StructType.fromDDL(ddl);
  }
}
