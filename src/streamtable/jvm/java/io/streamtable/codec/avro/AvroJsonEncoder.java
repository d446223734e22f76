package io.streamtable.codec.avro;

import com.fasterxml.jackson.core.JsonEncoding;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.BitSet;
import org.apache.avro.AvroTypeException;
import org.apache.avro.Schema;
import org.apache.avro.io.ParsingEncoder;
import org.apache.avro.io.parsing.JsonGrammarGenerator;
import org.apache.avro.io.parsing.Parser;
import org.apache.avro.io.parsing.Symbol;
import org.apache.avro.util.Utf8;

/**
 * Writes Avro's JSON encoding with the numbers of Flink's Avro: a FLOAT is written as Java writes
 * it. The encoder of Spark's Avro converts it to a double first, and so writes 0.10000000149011612
 * for 0.1 and 0.0 for -0.0.
 */
final class AvroJsonEncoder extends ParsingEncoder implements Parser.ActionHandler {
  private static final JsonFactory JSON = new JsonFactory();

  private final Parser parser;
  private final JsonGenerator out;
  private final BitSet empty = new BitSet();

  AvroJsonEncoder(Schema schema, OutputStream to) throws IOException {
    parser = new Parser(new JsonGrammarGenerator().generate(schema), this);
    out = JSON.createGenerator(to, JsonEncoding.UTF8);
  }

  @Override
  public void flush() throws IOException {
    parser.processImplicitActions();
    out.flush();
  }

  @Override
  public void writeNull() throws IOException {
    parser.advance(Symbol.NULL);
    out.writeNull();
  }

  @Override
  public void writeBoolean(boolean value) throws IOException {
    parser.advance(Symbol.BOOLEAN);
    out.writeBoolean(value);
  }

  @Override
  public void writeInt(int value) throws IOException {
    parser.advance(Symbol.INT);
    out.writeNumber(value);
  }

  @Override
  public void writeLong(long value) throws IOException {
    parser.advance(Symbol.LONG);
    out.writeNumber(value);
  }

  @Override
  public void writeFloat(float value) throws IOException {
    parser.advance(Symbol.FLOAT);
    out.writeNumber(value);
  }

  @Override
  public void writeDouble(double value) throws IOException {
    parser.advance(Symbol.DOUBLE);
    out.writeNumber(value);
  }

  @Override
  public void writeString(Utf8 value) throws IOException {
    writeString(value.toString());
  }

  @Override
  public void writeString(String value) throws IOException {
    parser.advance(Symbol.STRING);
    if (parser.topSymbol() == Symbol.MAP_KEY_MARKER) {
      parser.advance(Symbol.MAP_KEY_MARKER);
      out.writeFieldName(value);
    } else {
      out.writeString(value);
    }
  }

  @Override
  public void writeBytes(ByteBuffer value) throws IOException {
    byte[] copy = new byte[value.remaining()];
    value.duplicate().get(copy);
    writeBytes(copy, 0, copy.length);
  }

  @Override
  public void writeBytes(byte[] value, int start, int length) throws IOException {
    parser.advance(Symbol.BYTES);
    writeLatin1(value, start, length);
  }

  @Override
  public void writeFixed(byte[] value, int start, int length) throws IOException {
    parser.advance(Symbol.FIXED);
    Symbol.IntCheckAction wanted = (Symbol.IntCheckAction) parser.popSymbol();
    if (length != wanted.size) {
      throw new AvroTypeException("a fixed of " + wanted.size + " bytes cannot hold " + length);
    }
    writeLatin1(value, start, length);
  }

  private void writeLatin1(byte[] value, int start, int length) throws IOException {
    out.writeString(new String(value, start, length, StandardCharsets.ISO_8859_1));
  }

  @Override
  public void writeEnum(int ordinal) throws IOException {
    parser.advance(Symbol.ENUM);
    out.writeString(((Symbol.EnumLabelsAction) parser.popSymbol()).getLabel(ordinal));
  }

  @Override
  public void writeArrayStart() throws IOException {
    parser.advance(Symbol.ARRAY_START);
    out.writeStartArray();
    push();
    empty.set(depth());
  }

  @Override
  public void writeArrayEnd() throws IOException {
    endItems();
    parser.advance(Symbol.ARRAY_END);
    out.writeEndArray();
  }

  @Override
  public void writeMapStart() throws IOException {
    parser.advance(Symbol.MAP_START);
    out.writeStartObject();
    push();
    empty.set(depth());
  }

  @Override
  public void writeMapEnd() throws IOException {
    endItems();
    parser.advance(Symbol.MAP_END);
    out.writeEndObject();
  }

  @Override
  public void startItem() throws IOException {
    endItem();
    super.startItem();
    empty.clear(depth());
  }

  private void endItems() throws IOException {
    endItem();
    pop();
  }

  private void endItem() throws IOException {
    if (!empty.get(depth())) {
      parser.advance(Symbol.ITEM_END);
    }
  }

  @Override
  public void writeIndex(int branch) throws IOException {
    parser.advance(Symbol.UNION);
    Symbol.Alternative union = (Symbol.Alternative) parser.popSymbol();
    Symbol chosen = union.getSymbol(branch);
    if (chosen != Symbol.NULL) {
      out.writeStartObject();
      out.writeFieldName(union.getLabel(branch));
      parser.pushSymbol(Symbol.UNION_END);
    }
    parser.pushSymbol(chosen);
  }

  @Override
  public Symbol doAction(Symbol input, Symbol top) throws IOException {
    if (top instanceof Symbol.FieldAdjustAction field) {
      out.writeFieldName(field.fname);
    } else if (top == Symbol.RECORD_START) {
      out.writeStartObject();
    } else if (top == Symbol.RECORD_END || top == Symbol.UNION_END) {
      out.writeEndObject();
    } else if (top != Symbol.FIELD_END) {
      throw new AvroTypeException("no way to write " + top);
    }
    return null;
  }
}
