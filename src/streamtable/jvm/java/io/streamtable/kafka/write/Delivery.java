package io.streamtable.kafka.write;

import io.streamtable.kafka.client.KafkaFault;
import java.io.Serializable;
import org.apache.kafka.clients.producer.ProducerRecord;

/** Sends the records of a task to Kafka. One object serves one task of one epoch at a time. */
public interface Delivery extends Serializable {
  /** Begins a task's part of an epoch. */
  void begin(long task, long epoch);

  /**
   * Sends a record without waiting for the acknowledgement. Returns false if Kafka already has the
   * record. Throws a KafkaFault if an earlier record failed for good.
   */
  boolean send(ProducerRecord<byte[], byte[]> record);

  /** Returns the number of partitions of the topic, as far as the producer knows it. */
  int partitions(String topic);

  /** Returns the average time from the send call to the acknowledgement of a record, in ms. */
  long sendMs();

  /** Waits until Kafka has all sent records, committed or not. Throws a KafkaFault otherwise. */
  void flush();

  /** Waits until Kafka has all sent records, and commits them. Throws a KafkaFault otherwise. */
  void commit();

  /** Ends the part, committed or not, and releases the producer. May be called at any time. */
  void end();

  /** Returns how many records of this part Kafka did not accept and the task gave up. */
  long lost();
}
