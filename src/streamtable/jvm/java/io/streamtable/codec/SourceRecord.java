package io.streamtable.codec;

import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * A record as Kafka gave it.
 *
 * @param key null where there is none, as is the value
 * @param headers structs of (text, bytes); null where they are not read
 */
public record SourceRecord(
    byte[] key, byte[] value, UTF8String topic, int partition, long offset, ArrayData headers) {}
