package io.streamtable.codec.json;

import com.fasterxml.jackson.core.JsonParser;
import io.streamtable.codec.DecodeException;
import java.io.IOException;

/**
 * Reads the value at the parser's current token, up to its last token. One reader is created per
 * field.
 */
@FunctionalInterface
public interface JsonReader {
  Object read(JsonParser parser) throws IOException, DecodeException;
}
