package io.streamtable.codec.avro;

import io.streamtable.codec.Encoder;
import java.io.IOException;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;

/** Writes the value at a position of a row or an array, nulls included. */
@FunctionalInterface
interface AvroWriter {
  void write(SpecializedGetters from, int position, org.apache.avro.io.Encoder out) throws IOException;
}
