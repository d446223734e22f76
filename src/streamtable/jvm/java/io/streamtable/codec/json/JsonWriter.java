package io.streamtable.codec.json;

import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;

/** Writes the value at a position of a row or an array. The value is not null. */
@FunctionalInterface
interface JsonWriter {
  void write(SpecializedGetters from, int position, JsonGenerator out) throws IOException;
}
