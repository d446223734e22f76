package io.streamtable.kafka;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.kafka.clients.producer.ProducerRecord;

/**
 * Holds records back and keeps the last one of each key, deletes included, until enough are held or
 * the oldest has waited long enough. A timer of its own sees to the latter: where rows are rare, no
 * next row would.
 */
final class ReducingBuffer {
  private final int maxRows;
  private final Consumer<ProducerRecord<byte[], byte[]>> out;
  private final Map<ByteBuffer, ProducerRecord<byte[], byte[]>> last = new LinkedHashMap<>();
  private final ScheduledFuture<?> timer;

  ReducingBuffer(int maxRows, long intervalMs, Consumer<ProducerRecord<byte[], byte[]>> out) {
    this.maxRows = maxRows;
    this.out = out;
    this.timer =
        Producers.background()
            .scheduleAtFixedRate(this::flush, intervalMs, intervalMs, TimeUnit.MILLISECONDS);
  }

  /** Takes a record; one without a key has no later version and goes out at once. */
  synchronized void add(ProducerRecord<byte[], byte[]> record) {
    if (record.key() == null) {
      out.accept(record);
      return;
    }
    last.put(ByteBuffer.wrap(record.key()), record);
    if (last.size() >= maxRows) {
      flush();
    }
  }

  /** Sends what is held; under the lock, so that an older version cannot overtake a newer one. */
  synchronized void flush() {
    List<ProducerRecord<byte[], byte[]>> held = new ArrayList<>(last.values());
    last.clear();
    held.forEach(out);
  }

  /** Ends the timer; what is still held is dropped. */
  synchronized void stop() {
    timer.cancel(false);
    last.clear();
  }
}
