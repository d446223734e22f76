package io.streamtable.kafka.write;

import io.streamtable.kafka.client.BackgroundTasks;
import java.nio.ByteBuffer;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import org.apache.kafka.clients.producer.ProducerRecord;

/**
 * Buffers records and keeps the last record of each key, deletes included. The buffer sends its
 * records when it is full or its oldest record has waited for the interval. A timer checks the
 * interval, because rare rows cannot trigger the check.
 *
 * <p>There are two locks: one for the buffered records, one for the order of sending. A send may
 * wait for a cluster; meanwhile the task continues until its buffer is full.
 */
final class ReducingBuffer {
  private final int maxRows;
  private final Consumer<ProducerRecord<byte[], byte[]>> out;
  private final Object sending = new Object();
  private final Future<?> timer;
  private Map<ByteBuffer, ProducerRecord<byte[], byte[]>> last = new LinkedHashMap<>();
  private volatile RuntimeException failure;
  private volatile boolean stopped;

  ReducingBuffer(int maxRows, long intervalMs, Consumer<ProducerRecord<byte[], byte[]>> out) {
    this.maxRows = maxRows;
    this.out = out;
    this.timer = BackgroundTasks.every(intervalMs, this::flushInTime);
  }

  /** Adds a record. A record without a key has no later version and is sent at once. */
  void add(ProducerRecord<byte[], byte[]> record) {
    if (record.key() == null) {
      synchronized (sending) {
        check();
        out.accept(record);
      }
    } else if (held(record) >= maxRows) {
      flush();
    }
  }

  private synchronized int held(ProducerRecord<byte[], byte[]> record) {
    last.put(ByteBuffer.wrap(record.key()), record);
    return last.size();
  }

  /**
   * Sends the buffered records. Records that are removed from the buffer later are sent later, so
   * that an older version of a key cannot overtake a newer one.
   */
  void flush() {
    synchronized (sending) {
      check();
      for (ProducerRecord<byte[], byte[]> record : drained()) {
        if (stopped) {
          return;
        }
        out.accept(record);
      }
    }
  }

  private synchronized Collection<ProducerRecord<byte[], byte[]>> drained() {
    Collection<ProducerRecord<byte[], byte[]>> records = last.values();
    last = new LinkedHashMap<>();
    return records;
  }

  /** Sends the records on the timer. A failure of the timer is thrown in the task's next call. */
  private void flushInTime() {
    // The lock is held until the failure is stored: a flush of the task must not pass in between.
    synchronized (sending) {
      try {
        if (!stopped && failure == null) {
          flush();
        }
      } catch (RuntimeException e) {
        failure = e;
      }
    }
  }

  private void check() {
    if (failure != null) {
      throw failure;
    }
  }

  /**
   * Stops the timer after the record that is being sent, and drops records that are still buffered.
   */
  void stop() {
    stopped = true;
    timer.cancel(false);
    synchronized (sending) {
      drained();
    }
  }
}
