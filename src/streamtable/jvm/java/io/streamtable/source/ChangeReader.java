package io.streamtable.source;

import io.streamtable.codec.ChangeDecoder;
import io.streamtable.codec.DecodeException;
import io.streamtable.codec.Decoder;
import io.streamtable.codec.changeevents.ChangeRows;
import io.streamtable.expressions.MethodCall;
import io.streamtable.metrics.Counters;
import java.io.Serializable;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Reads the changelog rows of one Kafka record: row kind, physical columns, metadata columns of the
 * format. It is the counterpart of {@link RecordReader} for formats whose values are change events.
 */
public final class ChangeReader implements Serializable {
  /** Counter of records that do not change this table: changes of another table or of a schema. */
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
   * @param keyDecoder decoder of the key; null if no column is in the key
   * @param keyPositions for each output column its position in the decoded key, -1 if it is not
   *     there
   * @param valuePositions for each output column its position in the decoded value's columns and
   *     metadata, which take precedence
   * @param primaryKey output columns that identify a row; empty if the table has no primary key
   * @param lastOnly whether to return only the last change of each row in a record, for a consumer
   *     that keeps rows by the primary key and does not know the order within a record
   * @param counters counters with all names that this class and {@link RecordReader} declare
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

  /**
   * Returns a column with an array of the changes of each record. For parameters see
   * {@link RecordReader#column}.
   */
  public Column column(String outDdl, List<Column> arguments) {
    DataType rows = DataTypes.createArrayType(StructType.fromDDL(outDdl));
    return MethodCall.column(this, ChangeReader.class, "read", rows, arguments);
  }

  /** Returns the rows in the order of their changes, or null if the record is skipped. */
  public ArrayData read(
      byte[] key,
      byte[] value,
      UTF8String topic,
      int partition,
      long offset,
      ArrayData headers) {
    source.record(topic, partition);
    if (key == null && keyDecoder != null && keyDecoder.ofNull() == null) {
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
        keyRow = key == null ? keyDecoder.ofNull() : keyDecoder.decode(key);
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

  /**
   * Splits an update of the primary key into a delete and an insert, because no sink may drop its
   * -U.
   */
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
