package io.streamtable.codec.avro;

import io.streamtable.codec.DecodeException;

/** Reads one value of its type. One reader is created per field. */
@FunctionalInterface
interface AvroReader {
  Object read(AvroInput in) throws DecodeException;
}
