package io.streamtable.codec;

import org.apache.spark.sql.types.StructType;

/** Schemas as Python hands them over. */
final class Schemas {
  private Schemas() {}

  /** The columns of a DDL text; a query may want none of a key's or a value's. */
  static StructType of(String ddl) {
    return ddl.isEmpty() ? new StructType() : StructType.fromDDL(ddl);
  }
}
