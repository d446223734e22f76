package io.streamtable.kafka.read;

import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;

/**
 * The records of a partition that were fetched and not read yet: all records with offsets from
 * {@code next} to {@code end}. A range of offsets limits how many of them are read.
 */
final class FetchedRecords {
  private final TopicPartition partition;
  private List<ConsumerRecord<byte[], byte[]>> records = List.of();
  private int at;
  private long next = -1;
  private long end = -1;
  private long until;

  FetchedRecords(TopicPartition partition) {
    this.partition = partition;
  }

  TopicPartition partition() {
    return partition;
  }

  /** Returns the offset at which the next fetch begins. */
  long end() {
    return end;
  }

  /** Whether all records of the range were fetched. */
  boolean reachesEnd() {
    return end >= until;
  }

  /** Starts a range; returns whether its records must be fetched from its first offset on. */
  boolean begin(long from, long untilOffset) {
    until = untilOffset;
    if (from < next || from > end) {
      records = List.of();
      at = 0;
      next = from;
      end = from;
      return true;
    }
    while (at < records.size() && records.get(at).offset() < from) {
      at++;
    }
    next = from;
    return false;
  }

  /** Adds records that follow those that were fetched before. */
  void add(List<ConsumerRecord<byte[], byte[]>> more) {
    if (at < records.size()) {
      List<ConsumerRecord<byte[], byte[]>> both =
          new ArrayList<>(records.subList(at, records.size()));
      both.addAll(more);
      records = both;
    } else {
      records = more;
    }
    at = 0;
    end = more.get(more.size() - 1).offset() + 1;
  }

  /** Notes the position of the consumer; returns whether it has advanced. */
  boolean reach(long position) {
    boolean advanced = position > end;
    end = Math.max(end, position);
    return advanced;
  }

  /** Returns the next record of the range; null if no other was fetched. */
  ConsumerRecord<byte[], byte[]> next() {
    if (at == records.size() || records.get(at).offset() >= until) {
      next = Math.min(end, until);
      return null;
    }
    ConsumerRecord<byte[], byte[]> record = records.get(at++);
    next = record.offset() + 1;
    return record;
  }
}
