package io.streamtable.python;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.TaskContext;
import org.apache.spark.util.TaskCompletionListener;
import org.apache.spark.util.TaskInterruptListener;

/**
 * The Python processes of this executor. Each task has its own, from its first request to its end;
 * the next task takes it over.
 */
public final class PythonProcesses {
  /** Number of processes that wait for a task; more are ended. */
  private static final int MAX_IDLE = Runtime.getRuntime().availableProcessors();

  /** What processes must have in common to be used for the same task. */
  private record Kind(String executable, Map<String, String> environment, List<String> files) {
    private static Kind of(PythonProgram program) {
      return new Kind(program.executable(), program.environment(), program.files());
    }
  }

  private record Owned(long task, Kind kind) {}

  private static final Map<Owned, PythonProcess> USED = new HashMap<>();
  private static final Map<Kind, Deque<PythonProcess>> IDLE = new HashMap<>();

  private PythonProcesses() {}

  /**
   * Returns the answer of a function to a request of the current task.
   *
   * @param request parts of one message
   */
  public static byte[] answer(PythonProgram program, List<byte[]> request) {
    return ofTask(program).answer(program, request);
  }

  private static synchronized PythonProcess ofTask(PythonProgram program) {
    TaskContext task = TaskContext.get();
    if (task == null) {
      throw new IllegalStateException("Python aggregate functions run in tasks of Spark only");
    }
    Owned owned = new Owned(task.taskAttemptId(), Kind.of(program));
    PythonProcess known = USED.get(owned);
    if (known != null) {
      return known;
    }
    PythonProcess found = idle(owned.kind());
    PythonProcess process = found == null ? new PythonProcess(program) : found;
    USED.put(owned, process);
    TaskInterruptListener killed = (context, reason) -> end(owned);
    TaskCompletionListener completed = context -> release(owned);
    task.addTaskInterruptListener(killed);
    task.addTaskCompletionListener(completed);
    return process;
  }

  /** Ends the process of a task that is killed: a read from a pipe cannot be interrupted. */
  private static synchronized void end(Owned owned) {
    PythonProcess process = USED.get(owned);
    if (process != null) {
      process.end();
    }
  }

  private static PythonProcess idle(Kind kind) {
    Deque<PythonProcess> waiting = IDLE.getOrDefault(kind, new ArrayDeque<>());
    while (!waiting.isEmpty()) {
      PythonProcess process = waiting.pop();
      if (process.isUsable()) {
        return process;
      }
    }
    return null;
  }

  private static synchronized void release(Owned owned) {
    PythonProcess process = USED.remove(owned);
    Deque<PythonProcess> waiting = IDLE.computeIfAbsent(owned.kind(), kind -> new ArrayDeque<>());
    if (process.isUsable() && waiting.size() < MAX_IDLE) {
      waiting.push(process);
    } else {
      process.end();
    }
  }
}
