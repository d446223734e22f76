package io.streamtable.codec;

import com.fasterxml.jackson.core.JsonParser;
import java.io.IOException;

/** Reads the value that the parser stands at, up to its last token; made once per field. */
@FunctionalInterface
interface JsonReader {
  Object read(JsonParser parser) throws IOException, DecodeException;
}
