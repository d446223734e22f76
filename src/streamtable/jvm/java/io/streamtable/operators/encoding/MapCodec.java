package io.streamtable.operators.encoding;

import io.streamtable.operators.row.RowOrder;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.catalyst.expressions.codegen.UnsafeWriter;
import org.apache.spark.sql.catalyst.util.MapData;
import org.apache.spark.unsafe.Platform;
import scala.collection.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Converts a map: a Scala Map in rows. Its entries are written in the order of their keys, so that
 * equal maps have equal bytes in the keys of state.
 */
final class MapCodec extends ColumnCodec {
  private final ArrayCodec keys;
  private final ArrayCodec values;

  MapCodec(ColumnCodec key, ColumnCodec value) {
    super(8);
    this.keys = new ArrayCodec(key);
    this.values = new ArrayCodec(value);
  }

  @Override
  void write(UnsafeWriter writer, int at, Object value) {
    Seq<Row> entries = RowOrder.entries((scala.collection.Map<?, ?>) value);
    int before = writer.cursor();
    writer.grow(Long.BYTES);
    writer.increaseCursor(Long.BYTES);
    int start = writer.cursor();
    keys.writeElements(writer, entries.length(), entries.iterator().map(entry -> entry.get(0)));
    Platform.putLong(writer.getBuffer(), start - Long.BYTES, writer.cursor() - start);
    values.writeElements(writer, entries.length(), entries.iterator().map(entry -> entry.get(1)));
    writer.setOffsetAndSizeFromPreviousCursor(at, before);
  }

  @Override
  Object read(SpecializedGetters values, int at) {
    MapData map = values.getMap(at);
    Object[] found = keys.readElements(map.keyArray());
    Object[] content = this.values.readElements(map.valueArray());
    Map<Object, Object> entries = new LinkedHashMap<>();
    for (int i = 0; i < found.length; i++) {
      entries.put(found[i], content[i]);
    }
    return CollectionConverters.asScala(entries);
  }
}
