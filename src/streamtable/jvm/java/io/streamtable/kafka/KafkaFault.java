package io.streamtable.kafka;

import java.util.Map;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.TimeoutException;

/** What Kafka refused or did not answer, in one line and without a cause: causes quote properties. */
public final class KafkaFault extends RuntimeException {
  /** What a user has to look at. */
  public enum Kind {
    /** No broker answered in time. */
    UNREACHABLE,
    /** Brokers and client do not agree on who the client is, or on the way of telling it. */
    LOGIN,
    /** The user may not do this. */
    ACCESS,
    /** Anything else that was refused. */
    OTHER
  }

  private final Kind kind;

  KafkaFault(String message, Kind kind) {
    super(message);
    this.kind = kind;
  }

  KafkaFault(String message, boolean unreachable) {
    this(message, unreachable ? Kind.UNREACHABLE : Kind.OTHER);
  }

  /** What an admin client answered. */
  static KafkaFault of(Throwable cause, Map<String, String> properties) {
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

  /** The kind's name. */
  public String kind() {
    return kind.name();
  }
}
