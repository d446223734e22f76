package io.streamtable.operators.window;

import io.streamtable.functions.WindowZone;
import io.streamtable.operators.RowProcessor;
import io.streamtable.operators.encoding.DirectEncoder;
import io.streamtable.operators.row.NetRows;
import io.streamtable.operators.row.Plain;
import io.streamtable.operators.row.RowKind;
import io.streamtable.operators.state.EventTimers;
import io.streamtable.operators.state.Lateness;
import io.streamtable.operators.state.OrderedValue;
import io.streamtable.operators.window.Sessions.Session;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.streaming.ExpiredTimerInfo;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import scala.Tuple2;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Reads changelog rows of one group, and emits the output of each session once, when the watermark
 * passes its end.
 *
 * <p>Input rows are (row kind, columns..., start, end): the session of the row alone. State (layout
 * v1): "sessions", the open sessions; "rows", each row in them with its count. A row is late if its
 * session, merged with the open sessions, has ended according to the watermark. The rows of the batch
 * that ends a session are emitted without being written.
 */
public final class SessionProcessor extends RowProcessor {
  private final StructType schema;
  private final SessionOutput results;
  private final WindowZone zone;
  private final Lateness lateness;
  private transient ValueState<Row> open;
  private transient MapState<Row, Long> rows;

  /**
   * @param schema schema of the input rows
   * @param results computes the output of a session
   * @param zone time zone of the sessions' milliseconds
   */
  SessionProcessor(
      StructType schema, SessionOutput results, WindowZone zone, Lateness lateness) {
    this.schema = schema;
    this.results = results;
    this.zone = zone;
    this.lateness = lateness;
  }

  @Override
  public void init(OutputMode outputMode, TimeMode timeMode) {
    StructType spans = new StructType().add("spans", DataTypes.createArrayType(DataTypes.LongType));
    open =
        OrderedValue.of(getHandle().getValueState("sessions", Plain.row(spans), TTLConfig.NONE()));
    rows =
        getHandle().getMapState("rows", Plain.row(schema), DirectEncoder.longs(), TTLConfig.NONE());
  }

  @Override
  public scala.collection.Iterator<Row> handleRows(
      Row key, scala.collection.Iterator<Row> input, TimerValues timers) {
    List<Session> sessions = load();
    // Rows of this batch must not join sessions that the watermark has ended. Rows that have waited
    // for the same watermark may: timers then fire after all rows.
    List<Row> output = new ArrayList<>();
    if (lateness.checked()) {
      fire(key, sessions, timers, output);
    }
    List<Row> added = new ArrayList<>();
    List<Session> spans = new ArrayList<>(sessions);
    while (input.hasNext()) {
      Row row = input.next();
      added.add(row);
      spans.add(new Session(start(row), end(row)));
    }
    List<Session> merged = Sessions.merged(spans);
    NavigableMap<Long, Session> starts = new TreeMap<>();
    merged.forEach(session -> starts.put(session.start(), session));
    Map<Session, NetRows> ended = new LinkedHashMap<>();
    for (Row row : added) {
      Session session = starts.floorEntry(start(row)).getValue();
      if (lateness.isLate(last(session), timers)) {
        lateness.count(1);
      } else if (lateness.isComplete(last(session), timers)) {
        ended
            .computeIfAbsent(session, span -> stored(span, sessions))
            .add(RowKind.as(RowKind.INSERT, row), RowKind.sign(row.getByte(RowKind.POSITION)));
      } else {
        count(row);
      }
    }
    ended.forEach((session, rows) -> emit(key, session, rows, output));
    merged.removeIf(
        session -> ended.containsKey(session) || lateness.isLate(last(session), timers));
    store(sessions, merged);
    return CollectionConverters.asScala(output.iterator());
  }

  @Override
  public scala.collection.Iterator<Row> handleExpiredTimer(
      Row key, TimerValues timers, ExpiredTimerInfo timer) {
    List<Session> before = load();
    List<Session> after = new ArrayList<>(before);
    List<Row> output = new ArrayList<>();
    fire(key, after, timers, output);
    if (after.size() < before.size()) {
      store(after, after);
    }
    return CollectionConverters.asScala(output.iterator());
  }

  /** Removes the sessions that the watermark has ended, with their rows, and emits their output. */
  private void fire(Row key, List<Session> sessions, TimerValues timers, List<Row> output) {
    List<Session> ended = new ArrayList<>(sessions);
    ended.removeIf(session -> last(session) > EventTimers.watermark(timers));
    sessions.removeAll(ended);
    ended.forEach(session -> emit(key, session, take(session), output));
  }

  private void emit(Row key, Session session, NetRows rows, List<Row> output) {
    List<Tuple2<Row, Long>> inside = new ArrayList<>();
    rows.forEach((row, count) -> inside.add(new Tuple2<>(row, count)));
    inside.sort(Comparator.comparingLong(entry -> start(entry._1())));
    if (!inside.isEmpty()) {
      results.add(key, session, zone.time(session.end()), inside, output);
    }
  }

  /** Removes the rows of a session from the state, if it has open sessions within this one. */
  private NetRows stored(Session session, List<Session> open) {
    return open.stream().anyMatch(session::meets) ? take(session) : new NetRows();
  }

  /** Removes the rows of a session from the state. */
  private NetRows take(Session session) {
    NetRows inside = new NetRows();
    scala.collection.Iterator<Tuple2<Row, Long>> entries = rows.iterator();
    while (entries.hasNext()) {
      Tuple2<Row, Long> entry = entries.next();
      long moment = start(entry._1());
      if (session.start() <= moment && moment < session.end()) {
        inside.add(entry._1(), entry._2());
      }
    }
    inside.forEach((row, count) -> rows.removeKey(row));
    return inside;
  }

  /** Changes the count of a row. Within a batch, a removal may arrive before its addition. */
  private void count(Row row) {
    int sign = RowKind.sign(row.getByte(RowKind.POSITION));
    Row plain = RowKind.as(RowKind.INSERT, row);
    Long stored = rows.getValue(plain);
    long count = (stored == null ? 0 : stored) + sign;
    if (count == 0) {
      rows.removeKey(plain);
    } else {
      rows.updateValue(plain, count);
    }
  }

  private List<Session> load() {
    List<Session> sessions = new ArrayList<>();
    Row stored = open.get();
    if (stored != null) {
      List<Long> spans = stored.getList(0);
      for (int i = 0; i < spans.size(); i += 2) {
        sessions.add(new Session(spans.get(i), spans.get(i + 1)));
      }
    }
    return sessions;
  }

  private void store(List<Session> before, List<Session> after) {
    for (Session session : before) {
      if (!after.contains(session)) {
        EventTimers.delete(getHandle(), last(session));
      }
    }
    Long[] spans = new Long[2 * after.size()];
    for (int i = 0; i < after.size(); i++) {
      spans[2 * i] = after.get(i).start();
      spans[2 * i + 1] = after.get(i).end();
    }
    if (spans.length == 0) {
      open.clear();
      return;
    }
    open.update(RowFactory.create((Object) spans));
    for (Session session : after) {
      EventTimers.register(getHandle(), last(session));
    }
  }

  private long start(Row row) {
    return row.getLong(schema.length() - 2);
  }

  private long end(Row row) {
    return row.getLong(schema.length() - 1);
  }

  private long last(Session session) {
    return zone.last(session.end());
  }
}
