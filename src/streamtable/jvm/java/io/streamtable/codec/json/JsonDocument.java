package io.streamtable.codec.json;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.json.JsonReadFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.streamtable.codec.DecodeException;
import io.streamtable.codec.Texts;
import java.io.IOException;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;

/** Parses the bytes of one record as one JSON object. */
public final class JsonDocument {
  // Control characters in strings are accepted, as in Flink.
  private final JsonFactory factory =
      JsonMapper.builder()
          .enable(JsonReadFeature.ALLOW_UNESCAPED_CONTROL_CHARS)
          .build()
          .getFactory();

  public GenericInternalRow read(byte[] bytes, JsonRowReader row) throws DecodeException {
    try (JsonParser parser = factory.createParser(bytes)) {
      if (parser.nextToken() == null) {
        throw new DecodeException("there is nothing but blanks");
      }
      JsonReaders.expect(parser, JsonToken.START_OBJECT, "an object");
      return row.read(parser);
    } catch (JsonProcessingException e) {
      long at = e.getLocation() == null ? -1 : e.getLocation().getByteOffset();
      String place = at < 0 ? "" : " at byte " + at;
      throw new DecodeException(Texts.shorten(e.getOriginalMessage()) + place);
    } catch (IOException e) { // the bytes are in memory, so this is invalid UTF-16 or UTF-32
      throw new DecodeException(Texts.shorten(e.getMessage()));
    }
  }
}
