package io.streamtable.codec;

/** Reads one value of its type; made once per field. */
@FunctionalInterface
interface AvroReader {
  Object read(AvroInput in) throws DecodeException;
}
