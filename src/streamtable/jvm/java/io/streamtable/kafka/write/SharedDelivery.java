package io.streamtable.kafka.write;

import org.apache.kafka.clients.producer.ProducerRecord;

/**
 * A delivery that the writers of several topics share, so that one transaction holds the records of
 * all of them. It begins with the first writer, commits when the last one commits, and ends when
 * the last one ends.
 */
final class SharedDelivery implements Delivery {
  private final Delivery delivery;
  private final int writers;

  private transient int begun;
  private transient int committed;
  private transient int ended;

  SharedDelivery(Delivery delivery, int writers) {
    this.delivery = delivery;
    this.writers = writers;
  }

  @Override
  public void begin(long task, long epoch) {
    if (begun == 0) {
      committed = 0;
      ended = 0;
      delivery.begin(task, epoch);
    }
    begun++;
  }

  @Override
  public boolean send(ProducerRecord<byte[], byte[]> record) {
    return delivery.send(record);
  }

  @Override
  public int partitions(String topic) {
    return delivery.partitions(topic);
  }

  @Override
  public long sendMs() {
    return delivery.sendMs();
  }

  @Override
  public void flush() {
    delivery.flush();
  }

  @Override
  public void commit() {
    committed++;
    if (committed == writers) {
      delivery.commit();
    }
  }

  @Override
  public void end() {
    ended++;
    if (ended == writers) {
      begun = 0;
      delivery.end();
    }
  }

  @Override
  public long lost() {
    return 0; // a transaction loses no record
  }
}
