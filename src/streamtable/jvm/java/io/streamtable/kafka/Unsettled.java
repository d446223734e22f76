package io.streamtable.kafka;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/**
 * What tasks of this JVM have handed to a producer: a query that was broken off may have records on
 * their way to its topic, and who looks at the topic's end wants to know that none will follow.
 */
final class Unsettled {
  private static final Set<Unsettled> ALL = ConcurrentHashMap.newKeySet();

  private final String topic;
  private final LongAdder answered = new LongAdder();
  private volatile boolean ended;
  private long sent;

  private Unsettled(String topic) {
    this.topic = topic;
  }

  /** The part of a task that begins. */
  static Unsettled begin(String topic) {
    ALL.removeIf(Unsettled::isSettled);
    Unsettled part = new Unsettled(topic);
    ALL.add(part);
    return part;
  }

  /** Whether no task of this JVM writes to a topic, and none of their records is on its way. */
  static boolean none(String topic) {
    ALL.removeIf(Unsettled::isSettled);
    return ALL.stream().noneMatch(part -> part.topic.equals(topic));
  }

  /** A record goes to the producer; called by the task's own thread. */
  void send() {
    sent++;
  }

  /** The producer is done with a record, whatever became of it. */
  void answer() {
    answered.increment();
  }

  /** The task sends no more. */
  void end() {
    ended = true;
  }

  private boolean isSettled() {
    return ended && answered.sum() >= sent;
  }
}
