package io.streamtable.source;

import java.io.Serializable;

/** Receives records that cannot be parsed. If a record is lost, the task that passed it fails. */
@FunctionalInterface
public interface DeadLetters extends Serializable {
  /**
   * Stores a record.
   *
   * @param part `key` or `value`: the part that cannot be parsed
   * @param reason what is wrong with it, in one line
   */
  void take(SourceRecord record, String part, String reason);
}
