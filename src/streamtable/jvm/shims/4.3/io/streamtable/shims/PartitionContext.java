package io.streamtable.shims;

import java.io.Closeable;
import java.util.Map;
import java.util.Properties;
import org.apache.spark.TaskContext;
import org.apache.spark.executor.TaskMetrics;
import org.apache.spark.memory.TaskMemoryManager;
import org.apache.spark.metrics.source.Source;
import org.apache.spark.resource.ResourceInformation;
import org.apache.spark.shuffle.FetchFailedException;
import org.apache.spark.util.AccumulatorV2;
import org.apache.spark.util.PostStatusUpdateListener;
import org.apache.spark.util.TaskCompletionListener;
import org.apache.spark.util.TaskFailureListener;
import org.apache.spark.util.TaskInterruptListener;
import scala.Function0;
import scala.Option;
import scala.collection.immutable.Seq;

/** The context of a task with another number; for everything else it is the task's own. */
public final class PartitionContext extends TaskContext {
  private final TaskContext task;
  private final int partition;

  private PartitionContext(TaskContext task, int partition) {
    this.task = task;
    this.partition = partition;
  }

  /** Returns the context of a task with the number of a partition. */
  public static TaskContext of(TaskContext task, int partition) {
    return task.partitionId() == partition ? task : new PartitionContext(task, partition);
  }

  @Override
  public int partitionId() {
    return partition;
  }

  @Override
  public boolean isCompleted() {
    return task.isCompleted();
  }

  @Override
  public boolean isFailed() {
    return task.isFailed();
  }

  @Override
  public boolean isInterrupted() {
    return task.isInterrupted();
  }

  @Override
  public TaskContext addTaskCompletionListener(TaskCompletionListener listener) {
    task.addTaskCompletionListener(listener);
    return this;
  }

  @Override
  public TaskContext addTaskPreCompletionListener(TaskCompletionListener listener) {
    task.addTaskPreCompletionListener(listener);
    return this;
  }

  @Override
  public TaskContext addTaskFailureListener(TaskFailureListener listener) {
    task.addTaskFailureListener(listener);
    return this;
  }

  @Override
  public TaskContext addTaskInterruptListener(TaskInterruptListener listener) {
    task.addTaskInterruptListener(listener);
    return this;
  }

  @Override
  public TaskContext addPostStatusUpdateListener(PostStatusUpdateListener listener) {
    task.addPostStatusUpdateListener(listener);
    return this;
  }

  @Override
  public void invokePostStatusUpdateListeners() {
    task.invokePostStatusUpdateListeners();
  }

  @Override
  public int stageId() {
    return task.stageId();
  }

  @Override
  public int stageAttemptNumber() {
    return task.stageAttemptNumber();
  }

  @Override
  public int numPartitions() {
    return task.numPartitions();
  }

  @Override
  public int attemptNumber() {
    return task.attemptNumber();
  }

  @Override
  public long taskAttemptId() {
    return task.taskAttemptId();
  }

  @Override
  public String getLocalProperty(String key) {
    return task.getLocalProperty(key);
  }

  @Override
  public scala.math.BigDecimal cpuAmount() {
    return task.cpuAmount();
  }

  @Override
  public scala.collection.immutable.Map<String, ResourceInformation> resources() {
    return task.resources();
  }

  @Override
  public Map<String, ResourceInformation> resourcesJMap() {
    return task.resourcesJMap();
  }

  @Override
  public TaskMetrics taskMetrics() {
    return task.taskMetrics();
  }

  @Override
  public Seq<Source> getMetricsSources(String name) {
    return task.getMetricsSources(name);
  }

  @Override
  public void killTaskIfInterrupted() {
    task.killTaskIfInterrupted();
  }

  @Override
  public Option<String> getKillReason() {
    return task.getKillReason();
  }

  @Override
  public TaskMemoryManager taskMemoryManager() {
    return task.taskMemoryManager();
  }

  @Override
  public void registerAccumulator(AccumulatorV2<?, ?> accumulator) {
    task.registerAccumulator(accumulator);
  }

  @Override
  public void setFetchFailed(FetchFailedException failure) {
    task.setFetchFailed(failure);
  }

  @Override
  public void markInterrupted(String reason) {
    task.markInterrupted(reason);
  }

  @Override
  public void markTaskFailed(Throwable failure) {
    task.markTaskFailed(failure);
  }

  @Override
  public void markTaskCompleted(Option<Throwable> failure) {
    task.markTaskCompleted(failure);
  }

  @Override
  public Option<Throwable> getTaskFailure() {
    return task.getTaskFailure();
  }

  @Override
  public Option<FetchFailedException> fetchFailed() {
    return task.fetchFailed();
  }

  @Override
  public Properties getLocalProperties() {
    return task.getLocalProperties();
  }

  @Override
  public boolean interruptible() {
    return task.interruptible();
  }

  @Override
  public void pendingInterrupt(Option<Thread> thread, String reason) {
    task.pendingInterrupt(thread, reason);
  }

  @Override
  public <T extends Closeable> T createResourceUninterruptibly(Function0<T> resource) {
    return task.createResourceUninterruptibly(resource);
  }
}
