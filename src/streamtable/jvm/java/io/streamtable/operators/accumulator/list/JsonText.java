package io.streamtable.operators.accumulator.list;

import com.fasterxml.jackson.databind.node.TextNode;
import java.io.Serializable;
import java.math.BigDecimal;

/**
 * Formats a value as JSON.
 *
 * @param raw whether strings are JSON already
 */
public record JsonText(boolean raw) implements Serializable {
  String of(Object value) {
    if (value instanceof String text) {
      return raw ? text : quoted(text);
    }
    return value instanceof BigDecimal number ? number.toPlainString() : String.valueOf(value);
  }

  static String quoted(String text) {
    return TextNode.valueOf(text).toString();
  }
}
