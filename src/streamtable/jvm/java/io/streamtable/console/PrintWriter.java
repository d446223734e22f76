package io.streamtable.console;

import io.streamtable.metrics.Counters;
import java.io.FileNotFoundException;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.ForeachWriter;
import org.apache.spark.sql.Row;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Prints rows as Flink's print sink does: {@code identifier:task> +I[1, Ada]}. The task's number,
 * from 1, is printed only if several tasks print.
 */
public final class PrintWriter extends ForeachWriter<Row> {
  /** Counter of printed rows. */
  private static final String RECORDS_OUT = "recordsOut";

  private static final String[] KINDS = {"+I", "-U", "+U", "-D"};

  private final String identifier;
  private final String errorFile;
  private final Counters counters;
  private transient PrintStream stream;
  private transient String prefix;
  private transient long records;

  /**
   * Creates a writer.
   *
   * @param identifier prefix of each line; empty for none
   * @param errorFile file of the standard error to write to; null for standard output. A task on
   *     another machine than the driver writes to the standard error of its own JVM
   * @param counters counters of the table
   */
  public PrintWriter(String identifier, String errorFile, Counters counters) {
    this.identifier = identifier;
    this.errorFile = errorFile;
    this.counters = counters;
  }

  @Override
  public boolean open(long partition, long epoch) {
    records = 0;
    stream = errorFile == null ? System.out : standardError(errorFile);
    boolean several = TaskContext.get() != null && TaskContext.get().numPartitions() > 1;
    String name = identifier;
    if (several) {
      name += (name.isEmpty() ? "" : ":") + (partition + 1);
    }
    prefix = name.isEmpty() ? "" : name + "> ";
    return true;
  }

  @Override
  public void process(Row row) {
    StringBuilder line = new StringBuilder(prefix).append(KINDS[row.getByte(0)]).append('[');
    for (int i = 1; i < row.size(); i++) {
      line.append(i == 1 ? "" : ", ").append(shown(row.get(i)));
    }
    stream.println(line.append(']'));
    records++;
  }

  @Override
  public void close(Throwable error) {
    counters.add(RECORDS_OUT, records);
    if (stream == System.out || stream == System.err) {
      stream.flush();
    } else if (stream != null) {
      stream.close();
    }
  }

  /**
   * Opens the stream of a file that another process has open; this JVM's own stream if there is
   * none.
   */
  private static PrintStream standardError(String file) {
    try {
      return new PrintStream(new FileOutputStream(file, true), false, StandardCharsets.UTF_8);
    } catch (FileNotFoundException e) {
      return System.err;
    }
  }

  /** Formats a value like Flink's {@code Row.toString}. */
  private static String shown(Object value) {
    if (value instanceof byte[] bytes) {
      return Arrays.toString(bytes);
    }
    if (value instanceof Row row) {
      List<String> parts = new ArrayList<>();
      for (int i = 0; i < row.size(); i++) {
        parts.add(shown(row.get(i)));
      }
      return "+I[" + String.join(", ", parts) + "]";
    }
    if (value instanceof scala.collection.Map<?, ?> map) {
      List<String> parts = new ArrayList<>();
      for (Map.Entry<?, ?> entry : CollectionConverters.asJava(map).entrySet()) {
        parts.add(shown(entry.getKey()) + "=" + shown(entry.getValue()));
      }
      return "{" + String.join(", ", parts) + "}";
    }
    if (value instanceof scala.collection.Iterable<?> items) {
      List<String> parts = new ArrayList<>();
      for (Object item : CollectionConverters.asJava(items)) {
        parts.add(shown(item));
      }
      return "[" + String.join(", ", parts) + "]";
    }
    return String.valueOf(value);
  }
}
