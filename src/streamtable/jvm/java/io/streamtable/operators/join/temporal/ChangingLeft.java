package io.streamtable.operators.join.temporal;

import io.streamtable.operators.encoding.DirectEncoder;
import io.streamtable.operators.join.CountedRows;
import io.streamtable.operators.row.InexactRetractions;
import io.streamtable.operators.row.NetRows;
import io.streamtable.operators.row.Plain;
import io.streamtable.operators.row.RowKind;
import io.streamtable.operators.state.EventTimers;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.ObjLongConsumer;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.streaming.StatefulProcessorHandle;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.types.StructType;

/**
 * Left rows of a temporal join with updates and deletes.
 *
 * <p>Changes wait until the watermark passes their time, and changes of equal rows cancel out while
 * they wait. A retraction of an emitted row retracts the joined row that was emitted. A retraction of
 * a row that was not emitted retracts the row with its time and key; see {@link InexactRetractions}.
 * A row with the time of an emitted row is joined with the same version, also if that version is no
 * longer kept.
 *
 * <p>State (layout v1): "waiting", event time -> rows and their counts, which are negative for
 * retractions; the state of {@link EmittedRows}.
 */
final class ChangingLeft implements TemporalLeft {
  private final CountedRows counted;
  private final VersionedPair pair;
  private final EmittedRows emitted;
  private final boolean begins;
  private final int[] rowKey;
  private final int[] outputKey;
  private final boolean before;
  private transient StatefulProcessorHandle handle;
  private transient MapState<Long, Row> waiting;
  private transient SortedMap<Long, NetRows> added;

  /**
   * @param begins see {@link TemporalJoinOperator}
   * @param rowKey positions of a unique key of left rows; null if there is none
   * @param outputKey positions, or null; see {@link NetRows#changes}
   * @param ttl how long an emitted row is kept after the last change of rows with its time, in
   *     milliseconds; 0 for ever
   */
  ChangingLeft(
      StructType left,
      StructType right,
      VersionedPair pair,
      boolean begins,
      int[] rowKey,
      int[] outputKey,
      boolean before,
      long ttl) {
    this.counted = new CountedRows(left);
    this.pair = pair;
    this.emitted = new EmittedRows(counted, right, pair.outer(), ttl);
    this.begins = begins;
    this.rowKey = rowKey;
    this.outputKey = outputKey;
    this.before = before;
  }

  @Override
  public void open(StatefulProcessorHandle handle) {
    this.handle = handle;
    StructType changes = new StructType().add("changes", counted.type());
    waiting =
        handle.getMapState("waiting", DirectEncoder.longs(), Plain.row(changes), TTLConfig.NONE());
    emitted.open(handle);
    added = new TreeMap<>();
  }

  @Override
  public void add(byte kind, long moment, Row row) {
    added.computeIfAbsent(moment, at -> new NetRows(false, begins)).add(row, RowKind.sign(kind));
  }

  @Override
  public void complete(TimerValues timers) {
    long watermark = EventTimers.watermark(timers);
    added.forEach(
        (moment, newChanges) -> {
          Row stored = waiting.getValue(moment);
          NetRows known = new NetRows();
          if (stored != null) {
            counted.load(stored, 0, known);
          }
          NetRows arrived =
              newChanges.hasReturned()
                  ? withReturned(newChanges, known, emitted.find(moment, timers))
                  : newChanges;
          NetRows changes = known.isEmpty() ? arrived : known;
          if (changes == known) {
            arrived.forEach(known::add);
          }
          // With a TTL, an update of an emitted row to an equal row renews it.
          if (!changes.isEmpty() || (moment <= watermark && emitted.expires())) {
            waiting.updateValue(moment, RowFactory.create(counted.stored(changes)));
            EventTimers.register(handle, moment);
          } else if (stored != null) {
            waiting.removeKey(moment);
          }
        });
    added.clear();
  }

  /**
   * Returns new changes with the rows that are retracted before they are known and added again. If
   * another row with the key of such a row is known, the retraction removes that row.
   */
  private NetRows withReturned(NetRows newChanges, NetRows stored, EmittedRows.Entry joined) {
    NetRows known = new NetRows();
    stored.forEach(known::add);
    if (joined != null) {
      joined.rows().forEach(known::add);
    }
    InexactRetractions inexact = new InexactRetractions(rowKey);
    NetRows arrived = newChanges.behindReturned(known::count, inexact);
    if (!inexact.isEmpty()) {
      arrived.forEach(known::add);
      known.forEach(inexact::offer);
      inexact.resolve(arrived, stored::add);
    }
    return arrived;
  }

  @Override
  public boolean waits() {
    return waiting.keys().hasNext();
  }

  @Override
  public List<Long> passed(long watermark) {
    return TemporalLeft.passed(waiting, watermark);
  }

  @Override
  public List<Row> emit(List<Long> moments, Versions versions, TimerValues timers) {
    NetRows output = new NetRows();
    for (Long moment : moments) {
      EmittedRows.Entry known = emitted.find(moment, timers);
      Row version = known == null ? versions.at(moment) : known.version();
      NetRows rows = known == null ? new NetRows() : known.rows();
      NetRows changes = new NetRows();
      counted.load(waiting.getValue(moment), 0, changes);
      InexactRetractions inexact = new InexactRetractions(rowKey);
      ObjLongConsumer<Row> change =
          (row, by) -> {
            rows.add(row, by);
            Row joined = pair.joined(row, version);
            if (joined != null) {
              output.add(joined, by);
            }
          };
      changes.additionsFirst(
          (row, by) -> {
            // A row that is not kept has expired, or was not emitted.
            long kept = Math.max(by, -rows.count(row));
            change.accept(row, kept);
            if (by < kept) {
              inexact.add(row, kept - by);
            }
          });
      if (!inexact.isEmpty()) {
        rows.forEach(inexact::offer);
        inexact.resolve(changes, change);
      }
      emitted.put(moment, version, rows, timers);
      waiting.removeKey(moment);
      if (EventTimers.advances(timers)) {
        EventTimers.delete(handle, moment);
      }
    }
    emitted.expire(timers);
    return output.changes(outputKey, before);
  }
}
