package io.streamtable.testing;

import io.streamtable.operators.row.RowValue;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.UUID;
import org.apache.spark.sql.Encoder;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.encoders.ExpressionEncoder;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.streaming.ListState;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.streaming.QueryInfo;
import org.apache.spark.sql.streaming.StatefulProcessorHandle;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.ValueState;
import scala.Tuple2;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The state of one operator for all keys, in memory, in the bytes that Spark would store.
 *
 * <p>{@link OperatorHarness} uses it. Its processing time is constant within a micro-batch.
 */
final class MemoryState implements StatefulProcessorHandle {
  private final Map<String, Variable<?, ?>> variables = new HashMap<>();
  private final Map<RowValue, TreeSet<Long>> timers = new LinkedHashMap<>();
  private final UUID id = UUID.randomUUID();
  private RowValue key;
  private long batch;
  private long now;
  private int writes;

  /** The query of the state, in one micro-batch. */
  private record MemoryQuery(UUID getQueryId, long getBatchId) implements QueryInfo {
    @Override
    public UUID getRunId() {
      return getQueryId;
    }
  }

  /** The timer of a key. */
  record Timer(RowValue key, long moment) {}

  /** Sets the key whose state is read and written. */
  void of(RowValue key) {
    this.key = key;
  }

  /** Begins a micro-batch at a processing time, in milliseconds, and removes expired state. */
  void at(long moment) {
    batch++;
    now = moment;
    variables.values().forEach(Variable::expire);
  }

  /** Returns the number of entries, timers included. */
  int rows() {
    return variables.values().stream().mapToInt(Variable::rows).sum()
        + timers.values().stream().mapToInt(TreeSet::size).sum();
  }

  /** Returns how many entries were written so far, timers included. */
  int writes() {
    return writes;
  }

  /** Returns the timers of all keys up to a time, the earliest first. */
  List<Timer> due(long moment) {
    List<Timer> due = new ArrayList<>();
    timers.forEach(
        (owner, moments) -> moments.headSet(moment, true).forEach(m -> due.add(new Timer(owner, m))));
    due.sort(Comparator.comparingLong(Timer::moment));
    return due;
  }

  /** Returns the number of bytes of the entries, without the operator's keys. */
  long bytes() {
    return variables.values().stream().mapToLong(Variable::bytes).sum();
  }

  @Override
  public <T> ValueState<T> getValueState(String name, Encoder<T> encoder, TTLConfig ttl) {
    return new MemoryValue<>(variable(name, encoder, encoder, ttl));
  }

  @Override
  public <T> ValueState<T> getValueState(String name, TTLConfig ttl, Encoder<T> encoder) {
    return getValueState(name, encoder, ttl);
  }

  @Override
  public <K, V> MapState<K, V> getMapState(
      String name, Encoder<K> keys, Encoder<V> values, TTLConfig ttl) {
    return new MemoryMap<>(variable(name, keys, values, ttl));
  }

  @Override
  public <K, V> MapState<K, V> getMapState(
      String name, TTLConfig ttl, Encoder<K> keys, Encoder<V> values) {
    return getMapState(name, keys, values, ttl);
  }

  @Override
  public <T> ListState<T> getListState(String name, Encoder<T> encoder, TTLConfig ttl) {
    return new MemoryList<>(variable(name, Encoders.LONG(), encoder, ttl));
  }

  @Override
  public <T> ListState<T> getListState(String name, TTLConfig ttl, Encoder<T> encoder) {
    return getListState(name, encoder, ttl);
  }

  @Override
  public QueryInfo getQueryInfo() {
    return new MemoryQuery(id, batch);
  }

  @Override
  public void registerTimer(long moment) {
    writes++;
    timers.computeIfAbsent(key, k -> new TreeSet<>()).add(moment);
  }

  @Override
  public void deleteTimer(long moment) {
    TreeSet<Long> own = timers.get(key);
    if (own != null) {
      own.remove(moment);
      if (own.isEmpty()) {
        timers.remove(key);
      }
    }
  }

  @Override
  public Iterator<Object> listTimers() {
    List<Object> own = new ArrayList<>(timers.getOrDefault(key, new TreeSet<>()));
    return CollectionConverters.asScala(own.iterator());
  }

  @Override
  public void deleteIfExists(String name) {
    throw unsupported();
  }

  private static UnsupportedOperationException unsupported() {
    return new UnsupportedOperationException("not in memory");
  }

  @SuppressWarnings("unchecked")
  private <K, V> Variable<K, V> variable(
      String name, Encoder<K> keys, Encoder<V> values, TTLConfig ttl) {
    return (Variable<K, V>)
        variables.computeIfAbsent(
            name,
            n -> new Variable<>(new Bytes<>(keys), new Bytes<>(values), ttl.ttlDuration()));
  }

  /** Converts objects to the rows that Spark would store. */
  private static final class Bytes<T> {
    private final ExpressionEncoder.Serializer<T> serializer;
    private final ExpressionEncoder.Deserializer<T> deserializer;

    Bytes(Encoder<T> encoder) {
      ExpressionEncoder<T> bound =
          org.apache.spark.sql.catalyst.encoders.package$.MODULE$.encoderFor(encoder);
      bound = bound.resolveAndBind(bound.resolveAndBind$default$1(), bound.resolveAndBind$default$2());
      this.serializer = bound.createSerializer();
      this.deserializer = bound.createDeserializer();
    }

    UnsafeRow write(T value) {
      return ((UnsafeRow) serializer.apply(value)).copy();
    }

    T read(InternalRow row) {
      return deserializer.apply(row);
    }
  }

  /** The bytes of a value, and the time of the write. */
  private record Written(UnsafeRow value, long at) {}

  /** The content of a state variable for each key: bytes of an entry's key -> its value. */
  private final class Variable<K, V> {
    private final Bytes<K> keys;
    private final Bytes<V> values;
    private final long ttl;
    private final Map<RowValue, Map<UnsafeRow, Written>> entries = new HashMap<>();

    Variable(Bytes<K> keys, Bytes<V> values, Duration ttl) {
      this.keys = keys;
      this.values = values;
      this.ttl = ttl == null ? 0 : ttl.toMillis();
    }

    void expire() {
      if (ttl > 0) {
        entries.values().forEach(own -> own.values().removeIf(w -> w.at() + ttl <= now));
        entries.values().removeIf(Map::isEmpty);
      }
    }

    int rows() {
      return entries.values().stream().mapToInt(Map::size).sum();
    }

    long bytes() {
      return entries.values().stream()
          .flatMap(mine -> mine.entrySet().stream())
          .mapToLong(e -> e.getKey().getSizeInBytes() + e.getValue().value().getSizeInBytes())
          .sum();
    }

    Map<UnsafeRow, Written> mine() {
      return entries.getOrDefault(key, Map.of());
    }

    void put(UnsafeRow entry, V value) {
      writes++;
      entries
          .computeIfAbsent(key, k -> new LinkedHashMap<>())
          .put(entry, new Written(values.write(value), now));
    }

    void remove(UnsafeRow entry) {
      Map<UnsafeRow, Written> mine = mine();
      if (mine.containsKey(entry)) {
        mine.remove(entry);
        if (mine.isEmpty()) {
          entries.remove(key);
        }
      }
    }

    V read(Written written) {
      return written == null ? null : values.read(written.value());
    }

    void clear() {
      entries.remove(key);
    }
  }

  private static final class MemoryValue<T> implements ValueState<T> {
    /** The only entry of a key. */
    private static final UnsafeRow ENTRY = new UnsafeRow(0);

    static {
      ENTRY.pointTo(new byte[0], 0);
    }

    private final Variable<T, T> variable;

    MemoryValue(Variable<T, T> variable) {
      this.variable = variable;
    }

    @Override
    public boolean exists() {
      return !variable.mine().isEmpty();
    }

    @Override
    public T get() {
      return variable.read(variable.mine().get(ENTRY));
    }

    @Override
    public void update(T value) {
      variable.put(ENTRY, value);
    }

    @Override
    public void clear() {
      variable.clear();
    }
  }

  private static final class MemoryMap<K, V> implements MapState<K, V> {
    private final Variable<K, V> variable;

    MemoryMap(Variable<K, V> variable) {
      this.variable = variable;
    }

    @Override
    public boolean exists() {
      return !variable.mine().isEmpty();
    }

    @Override
    public V getValue(K key) {
      return variable.read(variable.mine().get(variable.keys.write(key)));
    }

    @Override
    public boolean containsKey(K key) {
      return variable.mine().containsKey(variable.keys.write(key));
    }

    @Override
    public void updateValue(K key, V value) {
      variable.put(variable.keys.write(key), value);
    }

    @Override
    public Iterator<Tuple2<K, V>> iterator() {
      List<Tuple2<K, V>> found = new ArrayList<>();
      variable
          .mine()
          .forEach((k, v) -> found.add(new Tuple2<>(variable.keys.read(k), variable.read(v))));
      return CollectionConverters.asScala(found.iterator());
    }

    @Override
    public Iterator<K> keys() {
      return iterator().map(Tuple2::_1);
    }

    @Override
    public Iterator<V> values() {
      return iterator().map(Tuple2::_2);
    }

    @Override
    public void removeKey(K key) {
      variable.remove(variable.keys.write(key));
    }

    @Override
    public void clear() {
      variable.clear();
    }
  }

  /** A list with entries by position. */
  private static final class MemoryList<T> implements ListState<T> {
    private final Variable<Long, T> variable;

    MemoryList(Variable<Long, T> variable) {
      this.variable = variable;
    }

    @Override
    public boolean exists() {
      return !variable.mine().isEmpty();
    }

    @Override
    public Iterator<T> get() {
      List<T> found = new ArrayList<>();
      variable.mine().values().forEach(written -> found.add(variable.read(written)));
      return CollectionConverters.asScala(found.iterator());
    }

    @Override
    public void put(Object values) {
      clear();
      appendList(values);
    }

    @Override
    public void appendValue(T value) {
      variable.put(variable.keys.write((long) variable.mine().size()), value);
    }

    @Override
    @SuppressWarnings("unchecked")
    public void appendList(Object values) {
      for (Object value : (Object[]) values) {
        appendValue((T) value);
      }
    }

    @Override
    public void clear() {
      variable.clear();
    }
  }
}
