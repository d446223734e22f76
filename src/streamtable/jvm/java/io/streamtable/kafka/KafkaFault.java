package io.streamtable.kafka;

/** What Kafka refused or did not answer, in one line and without a cause: causes quote properties. */
public final class KafkaFault extends RuntimeException {
  private final boolean unreachable;

  KafkaFault(String message, boolean unreachable) {
    super(message);
    this.unreachable = unreachable;
  }

  /** Whether no broker answered in time, as opposed to one that refused. */
  public boolean isUnreachable() {
    return unreachable;
  }
}
