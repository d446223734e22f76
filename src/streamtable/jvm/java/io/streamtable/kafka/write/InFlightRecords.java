package io.streamtable.kafka.write;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/**
 * Tracks the in-flight records of tasks of this JVM. A query that was interrupted may have
 * in-flight records to its topic; before the end of the topic is read, no record may be in flight.
 */
public final class InFlightRecords {
  private static final Set<InFlightRecords> ALL = ConcurrentHashMap.newKeySet();

  private final String topic;
  private final LongAdder answered = new LongAdder();
  private volatile boolean ended;
  private long sent;

  private InFlightRecords(String topic) {
    this.topic = topic;
  }

  /** Starts tracking a task's part of an epoch. */
  static InFlightRecords begin(String topic) {
    ALL.removeIf(InFlightRecords::isDone);
    InFlightRecords part = new InFlightRecords(topic);
    ALL.add(part);
    return part;
  }

  /**
   * Returns whether no task of this JVM writes to the topic and none of their records is in flight.
   */
  public static boolean none(String topic) {
    ALL.removeIf(InFlightRecords::isDone);
    return ALL.stream().noneMatch(part -> part.topic.equals(topic));
  }

  /** Counts a record passed to the producer. Never called by two threads at once. */
  void send() {
    sent++;
  }

  /** Counts a record that the producer has finished with, successfully or not. */
  void answer() {
    answered.increment();
  }

  /** Marks the end of the task's sends. */
  void end() {
    ended = true;
  }

  private boolean isDone() {
    return ended && answered.sum() >= sent;
  }
}
