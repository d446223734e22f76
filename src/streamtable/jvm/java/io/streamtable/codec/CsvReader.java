package io.streamtable.codec;

/** Reads the text of one csv field as a value of its type; made once per field. */
@FunctionalInterface
interface CsvReader {
  Object read(String text) throws DecodeException;
}
