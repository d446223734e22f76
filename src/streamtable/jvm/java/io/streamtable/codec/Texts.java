package io.streamtable.codec;

import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;

/** Text helpers for messages of all codecs, so that a long or binary value cannot flood a log. */
public final class Texts {
  private static final int SHOWN = 100;

  private Texts() {}

  /** Shortens a text to one line of at most a hundred characters. */
  public static String shorten(String text) {
    String head = text.length() > SHOWN ? text.substring(0, SHOWN) + "..." : text;
    return head.replaceAll("\\s+", " ");
  }

  /**
   * Returns a type's name as users of the tables write it: Spark's TIMESTAMP is their
   * TIMESTAMP_LTZ.
   */
  public static String name(DataType type) {
    if (type.equals(DataTypes.TimestampNTZType)) {
      return "TIMESTAMP";
    }
    return type.equals(DataTypes.TimestampType) ? "TIMESTAMP_LTZ" : type.sql();
  }
}
