package io.streamtable.source;

import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * A record as read from Kafka.
 *
 * @param key the key; null if there is none; the same applies to the value
 * @param headers structs of (text, bytes); null if headers are not read
 */
public record SourceRecord(
    byte[] key, byte[] value, UTF8String topic, int partition, long offset, ArrayData headers) {}
