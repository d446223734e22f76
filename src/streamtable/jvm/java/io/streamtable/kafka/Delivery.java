package io.streamtable.kafka;

import java.io.Serializable;
import org.apache.kafka.clients.producer.ProducerRecord;

/** How the records of a task reach Kafka. One object serves one task of one epoch at a time. */
interface Delivery extends Serializable {
  /** Begins a task's part of an epoch. */
  void begin(long task, long epoch);

  /**
   * Takes a record without waiting for it; false where Kafka has it already. A KafkaFault where an
   * earlier one failed for good.
   */
  boolean send(ProducerRecord<byte[], byte[]> record);

  /** How many partitions the topic has, as far as the producer knows. */
  int partitions(String topic);

  /** How long a record takes on average from hand-over to acknowledgement, in ms. */
  long sendMs();

  /** Returns when Kafka has everything that was sent; a KafkaFault otherwise. */
  void commit();

  /** Ends the part, committed or not, and lets go of the producer; may be called at any time. */
  void end();

  /** Records of this part that Kafka did not take and that were given up. */
  long lost();
}
