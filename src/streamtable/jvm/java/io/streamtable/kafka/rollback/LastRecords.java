package io.streamtable.kafka.rollback;

import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;

/** The last record of each wanted key among records in ascending order, up to a limit of bytes. */
final class LastRecords {
  private final Set<ByteBuffer> wanted;
  private final long maxBytes;
  private final Map<ByteBuffer, ConsumerRecord<byte[], byte[]>> records = new HashMap<>();
  private long bytes;

  LastRecords(Set<ByteBuffer> wanted, long maxBytes) {
    this.wanted = wanted;
    this.maxBytes = maxBytes;
  }

  /** Adds a record with a key; returns whether more records may be added. */
  boolean add(ConsumerRecord<byte[], byte[]> record) {
    ByteBuffer key = ByteBuffer.wrap(record.key());
    if (wanted.contains(key)) {
      ConsumerRecord<byte[], byte[]> before = records.put(key, record);
      bytes += bytes(record) - (before == null ? 0 : bytes(before));
    }
    return !isFull();
  }

  /** Returns whether the limit has been reached; then the records are not all there are. */
  boolean isFull() {
    return bytes >= maxBytes;
  }

  long bytes() {
    return bytes;
  }

  Map<ByteBuffer, ConsumerRecord<byte[], byte[]>> records() {
    return records;
  }

  private static long bytes(ConsumerRecord<byte[], byte[]> record) {
    long sum = record.key().length + Math.max(0, record.serializedValueSize());
    for (Header header : record.headers()) {
      sum += header.key().length() + (header.value() == null ? 0 : header.value().length);
    }
    return sum;
  }
}
