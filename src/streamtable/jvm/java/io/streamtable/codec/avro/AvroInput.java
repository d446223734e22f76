package io.streamtable.codec.avro;

import io.streamtable.codec.DecodeException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * Reads Avro's binary encoding of one record without copying it. Avro's own decoder trusts the
 * lengths that it reads: a broken record of ten bytes may make it allocate two gigabytes.
 */
final class AvroInput {
  /** Far above realistic nesting, far below the limit of a thread's stack. */
  private static final int DEEPEST = 1_000;

  private final byte[] bytes;
  private int at;
  private int depth;

  AvroInput(byte[] bytes) {
    this(bytes, 0);
  }

  /** Creates an input whose record begins at this byte, after a header. */
  AvroInput(byte[] bytes, int from) {
    this.bytes = bytes;
    at = from;
  }

  /** Enters a record whose schema may be recursive. */
  void enter() throws DecodeException {
    if (++depth > DEEPEST) {
      throw new DecodeException("records nested more than " + DEEPEST + " deep");
    }
  }

  /** Leaves the record. */
  void leave() {
    depth--;
  }

  long readLong() throws DecodeException {
    long value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      byte b = next();
      value |= (b & 0x7FL) << shift;
      if (b >= 0) {
        return (value >>> 1) ^ -(value & 1);
      }
    }
    throw new DecodeException("a number of more than ten bytes at byte " + at);
  }

  int readInt() throws DecodeException {
    long value = readLong();
    if (value != (int) value) {
      throw new DecodeException(value + " is not a valid INT");
    }
    return (int) value;
  }

  boolean readBoolean() throws DecodeException {
    return next() == 1;
  }

  float readFloat() throws DecodeException {
    return fixed(Float.BYTES).getFloat();
  }

  double readDouble() throws DecodeException {
    return fixed(Double.BYTES).getDouble();
  }

  byte[] readBytes() throws DecodeException {
    return readFixed(readLength());
  }

  byte[] readFixed(int length) throws DecodeException {
    skip(length);
    return Arrays.copyOfRange(bytes, at - length, at);
  }

  void skipBytes() throws DecodeException {
    skip(readLength());
  }

  void skip(int length) throws DecodeException {
    if (length > bytes.length - at) {
      throw truncated();
    }
    at += length;
  }

  int readBranch(int branches) throws DecodeException {
    long branch = readLong();
    if (branch < 0 || branch >= branches) {
      throw new DecodeException("branch " + branch + " of a union of " + branches);
    }
    return (int) branch;
  }

  /** Returns the number of items of the next block of an array or map, 0 at its end. */
  int readBlock() throws DecodeException {
    long count = readLong();
    if (count < 0) {
      count = -count;
      readLong(); // the size of the block in bytes, for readers that skip it
    }
    // A forged count of items without bytes must not allocate memory.
    if (count < 0 || count > bytes.length - at) {
      throw new DecodeException(count + " items announced, " + (bytes.length - at) + " bytes left");
    }
    return (int) count;
  }

  void expectEnd() throws DecodeException {
    if (at != bytes.length) {
      throw new DecodeException((bytes.length - at) + " bytes too many after the record");
    }
  }

  private int readLength() throws DecodeException {
    long length = readLong();
    if (length < 0 || length > bytes.length - at) {
      throw new DecodeException(
          "a length of " + length + " announced, " + (bytes.length - at) + " bytes left");
    }
    return (int) length;
  }

  private ByteBuffer fixed(int length) throws DecodeException {
    skip(length);
    return ByteBuffer.wrap(bytes, at - length, length).order(ByteOrder.LITTLE_ENDIAN);
  }

  private byte next() throws DecodeException {
    if (at == bytes.length) {
      throw truncated();
    }
    return bytes[at++];
  }

  private DecodeException truncated() {
    return new DecodeException("the record ends too early, after " + bytes.length + " bytes");
  }
}
