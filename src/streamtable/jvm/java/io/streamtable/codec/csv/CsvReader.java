package io.streamtable.codec.csv;

import io.streamtable.codec.DecodeException;

/** Reads the text of one CSV field as a value of its type. One reader is created per field. */
@FunctionalInterface
interface CsvReader {
  Object read(String text) throws DecodeException;
}
