package io.streamtable.codec.changeevents;

import io.streamtable.codec.DecodeException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;

/** Reads the metadata columns from an event's envelope, in the order of the columns. */
final class EventMetadata {
  /** Reads one column's value from an event. */
  @FunctionalInterface
  interface Getter {
    Object get(GenericInternalRow event) throws DecodeException;
  }

  /**
   * Creates the getter of a metadata key, and requests the fields that it needs from an envelope.
   */
  @FunctionalInterface
  interface Maker {
    Getter make(String key);
  }

  static final long MILLIS = 1_000L;
  static final long SECONDS = 1_000_000L;

  private final List<Getter> getters = new ArrayList<>();

  /** Reads the keys from the parameter `metadata`, where they are separated by blanks. */
  EventMetadata(Map<String, String> parameters, Maker maker) {
    for (String key : parameters.getOrDefault("metadata", "").split(" ")) {
      if (!key.isEmpty()) {
        getters.add(maker.make(key));
      }
    }
  }

  Object[] of(GenericInternalRow event) throws DecodeException {
    Object[] values = new Object[getters.size()];
    for (int i = 0; i < values.length; i++) {
      values[i] = getters.get(i).get(event);
    }
    return values;
  }

  static Getter value(int position) {
    return event -> event.values()[position];
  }

  /** Returns a getter of a timestamp in Spark's microseconds, from a number of units since 1970. */
  static Getter instant(int position, long microsPerUnit) {
    return event -> micros((Long) event.values()[position], microsPerUnit);
  }

  static Long micros(Long units, long microsPerUnit) throws DecodeException {
    try {
      return units == null ? null : (Long) Math.multiplyExact(units, microsPerUnit);
    } catch (ArithmeticException e) {
      throw new DecodeException("'" + units + "' is out of range for a time");
    }
  }
}
