package io.streamtable.kafka.client;

import java.util.Map;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.TimeoutException;

/**
 * An error from Kafka, or a timeout, in one line and without a cause, because causes quote
 * properties.
 */
public final class KafkaFault extends RuntimeException {
  /** The area that a user has to check. */
  public enum Kind {
    /** No bootstrap server accepted a connection in time. */
    UNCONNECTED,
    /** No broker answered in time. */
    UNREACHABLE,
    /** Authentication failed: brokers and client disagree on the identity or on the mechanism. */
    LOGIN,
    /** The user is not authorized. */
    ACCESS,
    /** Any other error. */
    OTHER
  }

  private final Kind kind;
  private final boolean namesTopic;

  public KafkaFault(String message, Kind kind) {
    this(message, kind, false);
  }

  private KafkaFault(String message, Kind kind, boolean namesTopic) {
    super(message);
    this.kind = kind;
    this.namesTopic = namesTopic;
  }

  public KafkaFault(String message, boolean unreachable) {
    this(message, unreachable ? Kind.UNREACHABLE : Kind.OTHER);
  }

  /** Converts an error of an admin client. */
  public static KafkaFault of(Throwable cause, Map<String, String> properties) {
    Kind kind = Kind.OTHER;
    if (cause instanceof TimeoutException) {
      kind = Kind.UNREACHABLE;
    } else if (cause instanceof AuthenticationException) {
      kind = Kind.LOGIN;
    } else if (cause instanceof AuthorizationException) {
      kind = Kind.ACCESS;
    }
    return new KafkaFault(Secrets.describe(cause, properties), kind);
  }

  /** Returns this fault with a topic in its message, unless the message already names one. */
  public KafkaFault inTopic(String topic) {
    return namesTopic ? this : new KafkaFault("topic '" + topic + "': " + getMessage(), kind, true);
  }

  /** Returns the name of the kind. */
  public String kind() {
    return kind.name();
  }
}
