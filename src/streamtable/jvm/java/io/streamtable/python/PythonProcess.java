package io.streamtable.python;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.spark.SparkFiles;
import org.apache.spark.api.python.PythonUtils;

/**
 * A Python process that answers requests to pickled functions, one at a time, over its standard
 * input and output.
 *
 * <p>Spark's own Python workers take one stream of rows and return another. A stateful processor
 * needs each answer before it reads its next group. The process ends when its input ends, which is
 * also the end of this JVM. What functions print goes to the error output, as in Spark's workers.
 */
final class PythonProcess {
  /** Reads (number of the program, length, bytes); writes (failed, length, bytes). */
  private static final String SERVE =
      """
      import os, pickle, signal, struct, sys, traceback

      signal.signal(signal.SIGINT, signal.SIG_IGN)
      signal.signal(signal.SIGTERM, signal.SIG_IGN)
      source, sink = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
      os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
      os.dup2(2, 1)
      programs = []


      def read(length):
          found = source.read(length)
          if len(found) < length:
              os._exit(0)
          return found


      while True:
          number, length = struct.unpack(">ii", read(8))
          request = read(length)
          try:
              if number < 0:
                  programs.append(pickle.loads(request)[0])
                  failed, answer = False, b""
              else:
                  failed, answer = False, programs[number].answer(request)
          except BaseException as error:
              text = getattr(error, "traceback_text", None) or traceback.format_exc()
              failed, answer = True, text.encode("utf-8", "replace")
          sys.stdout.flush()
          sink.write(struct.pack(">?i", failed, len(answer)))
          sink.write(answer)
          sink.flush()
      """;

  private static final int LOAD = -1;

  private final Process process;
  private final DataOutputStream requests;
  private final DataInputStream answers;
  private final Map<String, Integer> numbers = new HashMap<>();
  private boolean broken;

  PythonProcess(PythonProgram program) {
    ProcessBuilder builder = new ProcessBuilder(program.executable(), "-c", SERVE);
    builder.redirectError(ProcessBuilder.Redirect.INHERIT);
    builder.environment().putAll(program.environment());
    builder.environment().put("PYTHONPATH", path(program, builder.environment()));
    try {
      process = builder.start();
    } catch (IOException failed) {
      throw new IllegalStateException("cannot start " + program.executable(), failed);
    }
    requests = new DataOutputStream(new BufferedOutputStream(process.getOutputStream(), 1 << 16));
    answers = new DataInputStream(new BufferedInputStream(process.getInputStream(), 1 << 16));
  }

  /** Returns the import path: PySpark's, then the files of the job, then that of this process. */
  private static String path(PythonProgram program, Map<String, String> environment) {
    String root = SparkFiles.getRootDirectory();
    Stream<String> files = program.files().stream().map(name -> root + File.separator + name);
    return Stream.of(
            Stream.of(PythonUtils.sparkPythonPath(), root),
            files,
            Stream.ofNullable(environment.get("PYTHONPATH")))
        .flatMap(parts -> parts)
        .filter(part -> !part.isEmpty())
        .collect(Collectors.joining(File.pathSeparator));
  }

  /**
   * Returns the answer of a function to a request.
   *
   * @throws PythonException the function failed; the process remains usable
   */
  synchronized byte[] answer(PythonProgram program, List<byte[]> request) {
    boolean was = broken;
    // An error that leaves this method leaves half a message in the pipes.
    broken = true;
    try {
      Integer number = numbers.get(program.id());
      if (number == null) {
        exchange(LOAD, List.of(program.pickled()));
        number = numbers.size();
        numbers.put(program.id(), number);
      }
      byte[] answer = exchange(number, request);
      broken = was;
      return answer;
    } catch (PythonException failed) {
      broken = was;
      throw failed;
    } catch (EOFException ended) {
      throw new IllegalStateException(
          "the Python process of the aggregate functions ended" + status(), ended);
    } catch (IOException failed) {
      throw new IllegalStateException("the Python process cannot be reached" + status(), failed);
    }
  }

  private byte[] exchange(int number, List<byte[]> request) throws IOException {
    requests.writeInt(number);
    requests.writeInt(request.stream().mapToInt(part -> part.length).sum());
    for (byte[] part : request) {
      requests.write(part);
    }
    requests.flush();
    boolean failed = answers.readBoolean();
    byte[] answer = answers.readNBytes(answers.readInt());
    if (failed) {
      throw new PythonException(new String(answer, StandardCharsets.UTF_8));
    }
    return answer;
  }

  private String status() {
    return process.isAlive() ? "" : " with exit status " + process.exitValue();
  }

  /** Returns whether the process can take further requests. */
  boolean isUsable() {
    return !broken && process.isAlive();
  }

  void end() {
    process.destroyForcibly();
  }
}
