package io.streamtable.codec;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;

/** What of an event's envelope goes into metadata columns, in the order of the columns. */
final class EventMetadata {
  /** Reads one column's value out of an event. */
  @FunctionalInterface
  interface Getter {
    Object get(GenericInternalRow event) throws DecodeException;
  }

  /** Makes the getter of a metadata key, asking an envelope for the fields that it needs. */
  @FunctionalInterface
  interface Maker {
    Getter make(String key);
  }

  static final long MILLIS = 1_000L;
  static final long SECONDS = 1_000_000L;

  private final List<Getter> getters = new ArrayList<>();

  /** The keys stand in the parameter `metadata`, separated by blanks. */
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

  /** An instant as Spark holds it, out of a number of units since 1970. */
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
