package io.streamtable.source;

import java.io.Serializable;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.TaskContext;
import org.apache.spark.unsafe.types.UTF8String;
import org.apache.spark.util.TaskCompletionListener;

/**
 * Publishes the split that a task reads, from its record reader to other code in the same task.
 *
 * <p>The number of a task does not identify the split: Spark distributes the partitions of a topic
 * in the iteration order of a map, which may differ when a batch runs again after a restart.
 */
public final class TaskSource implements Serializable {
  private static final Map<Long, String> SOURCES = new ConcurrentHashMap<>();

  private final int reader;
  private transient TaskContext known;

  /** @param reader number that identifies the reader within the query, and is the same in each run */
  public TaskSource(int reader) {
    this.reader = reader;
  }

  /** Returns {@code reader.topic.partition}; null for a task that reads no records. */
  public static String of(TaskContext task) {
    return task == null ? null : SOURCES.get(task.taskAttemptId());
  }

  void record(UTF8String topic, int partition) {
    TaskContext task = TaskContext.get();
    if (task == null || task == known) {
      return;
    }
    known = task;
    SOURCES.put(task.taskAttemptId(), reader + "." + topic + "." + partition);
    TaskCompletionListener forget = ended -> SOURCES.remove(ended.taskAttemptId());
    task.addTaskCompletionListener(forget);
  }
}
