package io.streamtable.codec;

import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;

/** Wording that messages of all codecs share, so that a long or binary value cannot flood a log. */
final class Texts {
  private static final int SHOWN = 100;

  private Texts() {}

  /** One line of at most a hundred characters. */
  static String shorten(String text) {
    String head = text.length() > SHOWN ? text.substring(0, SHOWN) + "..." : text;
    return head.replaceAll("\\s+", " ");
  }

  /** A type as users of the tables spell it: Spark's TIMESTAMP is their TIMESTAMP_LTZ. */
  static String name(DataType type) {
    if (type.equals(DataTypes.TimestampNTZType)) {
      return "TIMESTAMP";
    }
    return type.equals(DataTypes.TimestampType) ? "TIMESTAMP_LTZ" : type.sql();
  }
}
