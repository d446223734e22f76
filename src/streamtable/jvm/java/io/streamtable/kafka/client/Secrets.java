package io.streamtable.kafka.client;

import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * Removes the values of secret properties from messages, because Kafka quotes some invalid values.
 */
public final class Secrets {
  private static final Pattern KEYS =
      Pattern.compile("password|secret|token|jaas|accesskey|credential|user-info|\\.key$");

  private Secrets() {}

  /** Describes an error in one line, with the innermost cause if it differs. */
  public static String describe(Throwable fault, Map<String, String> properties) {
    Throwable cause = fault;
    while (cause.getCause() != null && cause.getCause() != cause) {
      cause = cause.getCause();
    }
    String text = one(fault);
    if (cause != fault) {
      text += ": " + one(cause);
    }
    for (Map.Entry<String, String> property : properties.entrySet()) {
      String value = property.getValue();
      if (!value.isEmpty() && KEYS.matcher(property.getKey().toLowerCase(Locale.ROOT)).find()) {
        text = text.replace(value, "****");
      }
    }
    return text;
  }

  private static String one(Throwable fault) {
    String message = fault.getMessage() == null ? "" : ": " + fault.getMessage();
    return (fault.getClass().getSimpleName() + message).replaceAll("\\s+", " ");
  }
}
