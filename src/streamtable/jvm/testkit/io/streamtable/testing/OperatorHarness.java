package io.streamtable.testing;

import io.streamtable.operators.Keyed;
import io.streamtable.operators.row.RowValue;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.spark.api.java.function.MapPartitionsFunction;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoder;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.exchange.BroadcastExchangeExec;
import org.apache.spark.sql.execution.exchange.Exchange;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.StatefulProcessor;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.types.StructType;
import scala.jdk.javaapi.CollectionConverters;

/**
 * A test harness: runs the operators of a plan without a streaming query. Each micro-batch is one
 * run of a batch DataFrame; between runs, the state of processors stays in this JVM.
 *
 * <p>A plan is made once and a micro-batch takes milliseconds, so that thousands of random queries
 * can be tested. Processors and the bytes of their state are those of a job. Spark's state
 * management is not used (`testing.replay` runs fewer queries with it). The harness supports one
 * run at a time, on a Spark in one JVM.
 */
public final class OperatorHarness {
  private static final Map<Integer, MemoryState> STATES = new ConcurrentHashMap<>();
  private static final Map<String, List<List<Row>>> BATCHES = new ConcurrentHashMap<>();
  private static final Map<Integer, HarnessTime> TIMES = new ConcurrentHashMap<>();
  private static final AtomicInteger OPERATORS = new AtomicInteger();
  private static volatile int batch;
  private static volatile long now;
  private static volatile int query;

  private OperatorHarness() {}

  /** Clears everything, and registers operators that are created from now on. */
  public static void begin() {
    Keyed.runBatches(OperatorHarness::stateful);
    STATES.clear();
    BATCHES.clear();
    TIMES.clear();
    OPERATORS.set(0);
    plan(0);
    turn(0, 0);
  }

  /** Returns the processing time, in milliseconds. */
  static long now() {
    return now;
  }

  /** Sets the query of operators that are created from now on. */
  public static void plan(int number) {
    query = number;
    TIMES.computeIfAbsent(number, n -> new HarnessTime());
  }

  /**
   * Sets a query's watermark from the next micro-batch on, in milliseconds.
   *
   * @param reached the watermark at which timers of the next micro-batch fire, if it is higher
   */
  public static void watermark(int number, long moment, long reached) {
    TIMES.get(number).advance(moment, reached);
  }

  /**
   * Sets the micro-batch that tables return.
   *
   * @param moment the processing time, in milliseconds
   */
  public static void turn(int number, long moment) {
    batch = number;
    now = moment;
    TIMES.values().forEach(time -> time.at(moment));
  }

  /** Returns the number of entries in the state of all operators; timers count as entries. */
  public static int stateRows() {
    return STATES.values().stream().mapToInt(MemoryState::rows).sum();
  }

  /** Returns how many of these entries were written since the beginning. */
  public static int stateWrites() {
    return STATES.values().stream().mapToInt(MemoryState::writes).sum();
  }

  /** Returns the number of bytes of these entries. */
  public static long stateBytes() {
    return STATES.values().stream().mapToLong(MemoryState::bytes).sum();
  }

  /**
   * Creates a table that returns the rows of the current micro-batch.
   *
   * @param rows rows of all batches; the last column is the number of the batch, and is not
   *     returned
   */
  public static Dataset<Row> table(
      SparkSession spark, String name, Dataset<Row> rows, int batches) {
    int last = rows.columns().length - 1;
    List<List<Row>> cut = new ArrayList<>();
    for (int i = 0; i < batches; i++) {
      cut.add(new ArrayList<>());
    }
    for (Row row : rows.collectAsList()) {
      cut.get(row.getInt(last)).add(row);
    }
    BATCHES.put(name, cut);
    Encoder<Row> encoder = Encoders.row(rows.schema());
    MapPartitionsFunction<Long, Row> current =
        none -> batch < batches ? BATCHES.get(name).get(batch).iterator() : List.<Row>of().iterator();
    return spark
        .range(0, 1, 1, 1)
        .mapPartitions(current, encoder)
        .drop(rows.columns()[last]);
  }

  /**
   * Returns the rows of some DataFrames in this micro-batch, one line per row: numbers and text
   * between tabs.
   *
   * @param outputs rows of (case, row kind, text); a text has neither tabs nor line ends
   * @throws IllegalStateException if a DataFrame has a shuffle, because Spark keeps the rows of a
   *     shuffle
   */
  public static String rows(List<Dataset<Row>> outputs) {
    StringBuilder lines = new StringBuilder();
    for (Dataset<Row> output : outputs) {
      if (exchanges(output.queryExecution().executedPlan())) {
        throw new IllegalStateException("the test harness exchanges no rows");
      }
      for (Row row : output.collectAsList()) {
        lines.append(row.get(0)).append('\t').append(row.get(1)).append('\t');
        lines.append(row.getString(2)).append('\n');
      }
    }
    return lines.toString();
  }

  /**
   * Returns whether the plan has a shuffle. A broadcast is a static table, which Spark may keep.
   */
  private static boolean exchanges(SparkPlan plan) {
    return (plan instanceof Exchange && !(plan instanceof BroadcastExchangeExec))
        || CollectionConverters.asJava(plan.children()).stream().anyMatch(OperatorHarness::exchanges);
  }

  private static Dataset<Row> stateful(
      Dataset<Row> input,
      int[] keys,
      StatefulProcessor<Row, Row, Row> processor,
      TimeMode time,
      Encoder<Row> output) {
    int id = OPERATORS.getAndIncrement();
    int own = query;
    return input
        .coalesce(1)
        .mapPartitions(
            (MapPartitionsFunction<Row, Row>) rows -> run(id, own, rows, keys, processor, time),
            output);
  }

  private static Iterator<Row> run(
      int id,
      int own,
      Iterator<Row> rows,
      int[] keys,
      StatefulProcessor<Row, Row, Row> processor,
      TimeMode mode) {
    Map<RowValue, List<Row>> groups = new LinkedHashMap<>();
    while (rows.hasNext()) {
      Row row = rows.next();
      Row key = keys.length == 0 ? RowFactory.create(0) : RowValue.columns(row, keys);
      groups.computeIfAbsent(new RowValue(key), k -> new ArrayList<>()).add(row);
    }
    MemoryState state = STATES.computeIfAbsent(id, i -> new MemoryState());
    state.at(now);
    HarnessTime time = TIMES.get(own);
    processor.setHandle(state);
    processor.init(OutputMode.Update(), mode);
    List<Row> output = new ArrayList<>();
    TimerValues ofRows = time.ofRows();
    groups.forEach(
        (key, group) -> {
          state.of(key);
          CollectionConverters.asJava(
                  processor.handleInputRows(
                      key.row(), CollectionConverters.asScala(group.iterator()), ofRows))
              .forEachRemaining(output::add);
        });
    if (mode.equals(TimeMode.EventTime())) {
      // As in Spark, timers fire after the rows. Timers later than the watermark do not fire.
      TimerValues ofTimers = time.ofTimers();
      for (MemoryState.Timer timer : state.due(ofTimers.getCurrentWatermarkInMs())) {
        state.of(timer.key());
        CollectionConverters.asJava(
                processor.handleExpiredTimer(timer.key().row(), ofTimers, timer::moment))
            .forEachRemaining(output::add);
        state.deleteTimer(timer.moment());
      }
    }
    processor.close();
    return output.iterator();
  }
}
