package io.streamtable.codec;

import java.io.Serializable;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.TaskContext;
import org.apache.spark.util.TaskCompletionListener;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * What a task reads, told by its reader of records to whatever else works in the same task.
 *
 * <p>The number of a task says nothing of the kind: Spark deals the partitions of a topic out in the
 * order of a map, and a batch that runs again after a restart may find another order there.
 */
public final class TaskSource implements Serializable {
  private static final Map<Long, String> SOURCES = new ConcurrentHashMap<>();

  private final int reader;
  private transient TaskContext told;

  /** @param reader tells the readers of a job apart, and is the same in each of its runs */
  public TaskSource(int reader) {
    this.reader = reader;
  }

  /** {@code reader.topic.partition}; null for a task that reads no records. */
  public static String of(TaskContext task) {
    return task == null ? null : SOURCES.get(task.taskAttemptId());
  }

  void tell(UTF8String topic, int partition) {
    TaskContext task = TaskContext.get();
    if (task == null || task == told) {
      return;
    }
    told = task;
    SOURCES.put(task.taskAttemptId(), reader + "." + topic + "." + partition);
    TaskCompletionListener forget = ended -> SOURCES.remove(ended.taskAttemptId());
    task.addTaskCompletionListener(forget);
  }
}
