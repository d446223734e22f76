package io.streamtable.codec;

import java.io.Serializable;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * One Kafka record to the changelog rows it holds: row kind, physical columns, metadata columns of
 * the format. The counterpart of {@link RecordReader} for formats whose values are change events.
 */
public final class ChangeReader implements Serializable {
  /** Records that change nothing of this table: another one's, or a change of a schema. */
  public static final String NO_CHANGES = "noChanges";

  private final Decoder keyDecoder;
  private final ChangeDecoder valueDecoder;
  private final int[] keyPositions;
  private final int[] valuePositions;
  private final int[] primaryKey;
  private final boolean lastOnly;
  private final TaskSource source;
  private final ReadFaults faults;
  private final Counters counters;

  /**
   * @param keyDecoder null where no column lives in the key
   * @param keyPositions per output column its position in the decoded key, -1 where it has none
   * @param valuePositions the same for the value's columns and metadata, which win
   * @param primaryKey output columns that identify a row; empty where the table has no such
   * @param lastOnly whether a record gives the last change of each row only, for a consumer that
   *     keeps rows by the primary key and knows no order within a record
   * @param counters holds every name that this class and {@link RecordReader} declare
   */
  public ChangeReader(
      Decoder keyDecoder,
      ChangeDecoder valueDecoder,
      int[] keyPositions,
      int[] valuePositions,
      int[] primaryKey,
      boolean lastOnly,
      TaskSource source,
      ReadFaults faults,
      Counters counters) {
    this.keyDecoder = keyDecoder;
    this.valueDecoder = valueDecoder;
    this.keyPositions = keyPositions;
    this.valuePositions = valuePositions;
    this.primaryKey = primaryKey;
    this.lastOnly = lastOnly;
    this.source = source;
    this.faults = faults;
    this.counters = counters;
  }

  /** The rows in the order of their changes, or null where the record is left out. */
  public ArrayData read(
      byte[] key,
      byte[] value,
      UTF8String topic,
      int partition,
      long offset,
      ArrayData headers) {
    source.tell(topic, partition);
    if (key == null && keyDecoder != null) {
      return leaveOut(RecordReader.NULL_KEYS);
    }
    if (value == null) {
      return leaveOut(RecordReader.TOMBSTONES);
    }
    GenericInternalRow keyRow = null;
    List<GenericInternalRow> changes;
    boolean readingKey = true;
    try {
      if (keyDecoder != null) {
        keyRow = keyDecoder.decode(key);
        if (keyRow == null) {
          return leaveOut(RecordReader.EMPTY);
        }
      }
      readingKey = false;
      changes = valueDecoder.decode(value);
    } catch (DecodeException e) {
      String format = readingKey ? keyDecoder.format() : valueDecoder.format();
      SourceRecord record = new SourceRecord(key, value, topic, partition, offset, headers);
      faults.handle(record, readingKey, format, e);
      return null;
    }
    if (changes == null) {
      return leaveOut(RecordReader.EMPTY);
    }
    if (changes.isEmpty()) {
      return leaveOut(NO_CHANGES);
    }
    int errors = valueDecoder.fieldErrors() + (keyRow == null ? 0 : keyDecoder.fieldErrors());
    if (errors > 0) {
      counters.add(RecordReader.FIELD_ERRORS, errors);
    }
    return rows(keyRow, changes);
  }

  private ArrayData rows(GenericInternalRow keyRow, List<GenericInternalRow> changes) {
    List<InternalRow> rows = new ArrayList<>(changes.size());
    for (GenericInternalRow change : changes) {
      rows.add(merge(keyRow, change));
    }
    if (primaryKey.length > 0) {
      splitMoves(rows);
      if (lastOnly) {
        rows = last(rows);
      }
    }
    return new GenericArrayData(rows.toArray());
  }

  private GenericInternalRow merge(GenericInternalRow keyRow, GenericInternalRow change) {
    Object[] out = new Object[valuePositions.length + 1];
    out[0] = change.values()[0];
    for (int i = 0; i < valuePositions.length; i++) {
      if (valuePositions[i] >= 0) {
        out[i + 1] = change.values()[1 + valuePositions[i]];
      } else if (keyRow != null && keyPositions[i] >= 0) {
        out[i + 1] = keyRow.values()[keyPositions[i]];
      }
    }
    return new GenericInternalRow(out);
  }

  /** An update of the primary key deletes one row and inserts another: no sink may drop its -U. */
  private void splitMoves(List<InternalRow> rows) {
    for (int i = 0; i + 1 < rows.size(); i++) {
      InternalRow before = rows.get(i);
      InternalRow after = rows.get(i + 1);
      if (before.getByte(0) == ChangeRows.UPDATE_BEFORE && !key(before).equals(key(after))) {
        before.update(0, ChangeRows.DELETE);
        after.update(0, ChangeRows.INSERT);
      }
    }
  }

  private List<InternalRow> last(List<InternalRow> rows) {
    Map<List<Object>, InternalRow> newest = new LinkedHashMap<>();
    for (InternalRow row : rows) {
      newest.put(key(row), row);
    }
    return new ArrayList<>(newest.values());
  }

  private List<Object> key(InternalRow row) {
    List<Object> key = new ArrayList<>(primaryKey.length);
    for (int column : primaryKey) {
      Object value = ((GenericInternalRow) row).values()[1 + column];
      key.add(value instanceof byte[] bytes ? ByteBuffer.wrap(bytes) : value);
    }
    return key;
  }

  private ArrayData leaveOut(String why) {
    counters.add(why, 1);
    return null;
  }
}
