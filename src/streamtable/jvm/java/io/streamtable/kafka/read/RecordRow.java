package io.streamtable.kafka.read;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * The row of a record, in the columns of Spark's Kafka source. The rows of a partition share one
 * object: it holds the record that was set last. Spark's own reader copies each record into an
 * unsafe row instead.
 */
final class RecordRow {
  private static final int KEY = 0;
  private static final int VALUE = 1;
  private static final int OFFSET = 4;
  private static final int TIMESTAMP = 5;
  private static final int TIMESTAMP_TYPE = 6;
  private static final int HEADERS = 7;

  private final boolean withHeaders;
  private final Object[] values;
  private final InternalRow row;

  RecordRow(TopicPartition partition, boolean withHeaders) {
    this.withHeaders = withHeaders;
    this.values = new Object[withHeaders ? HEADERS + 1 : HEADERS];
    this.values[2] = UTF8String.fromString(partition.topic());
    this.values[3] = partition.partition();
    this.row = new GenericInternalRow(values);
  }

  InternalRow of(ConsumerRecord<byte[], byte[]> record) {
    values[KEY] = record.key();
    values[VALUE] = record.value();
    values[OFFSET] = record.offset();
    values[TIMESTAMP] = Math.multiplyExact(record.timestamp(), 1_000L);
    values[TIMESTAMP_TYPE] = record.timestampType().id;
    if (withHeaders) {
      values[HEADERS] = headers(record.headers().toArray());
    }
    return row;
  }

  /** Returns an array of key and value; null for a record without headers, as in Spark. */
  private static GenericArrayData headers(Header[] headers) {
    if (headers.length == 0) {
      return null;
    }
    Object[] rows = new Object[headers.length];
    for (int i = 0; i < headers.length; i++) {
      Object[] header = {UTF8String.fromString(headers[i].key()), headers[i].value()};
      rows[i] = new GenericInternalRow(header);
    }
    return new GenericArrayData(rows);
  }
}
