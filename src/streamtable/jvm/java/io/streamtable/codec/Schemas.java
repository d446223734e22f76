package io.streamtable.codec;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.sql.types.StructType;

/**
 * Parses schemas that Python passes. Each task has its own codecs, and Spark's parser takes longer
 * than a small batch, so the schemas of all queries of this JVM are kept.
 */
public final class Schemas {
  private static final Map<String, StructType> PARSED = new ConcurrentHashMap<>();

  private Schemas() {}

  /**
   * Returns the columns of a DDL text, which is empty if a query needs no column of a key or value.
   */
  public static StructType of(String ddl) {
    return ddl.isEmpty() ? new StructType() : PARSED.computeIfAbsent(ddl, StructType::fromDDL);
  }
}
