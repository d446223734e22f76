package io.streamtable.codec.protobuf;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.CodedOutputStream;
import io.streamtable.codec.DecodeException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;

/**
 * The path of a message in its schema, as Confluent's serializers write it after the schema id: the
 * number of indexes, then each index, as zigzag varints. The path of the first message is one zero.
 *
 * @param path see {@link ProtoSchemas#path}
 * @param length the number of bytes
 */
record MessageIndexes(List<Integer> path, int length) {
  private static final int MOST = 100;
  private static final List<Integer> FIRST = List.of(0);

  /** Reads the path at a position of a record. */
  static MessageIndexes read(byte[] bytes, int from) throws DecodeException {
    CodedInputStream in = CodedInputStream.newInstance(bytes, from, bytes.length - from);
    try {
      int count = in.readSInt32();
      if (count < 0 || count > MOST) {
        throw new DecodeException(count + " message indexes after the schema id");
      }
      List<Integer> path = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        path.add(in.readSInt32());
      }
      return new MessageIndexes(path.isEmpty() ? FIRST : path, in.getTotalBytesRead());
    } catch (IOException e) {
      throw new DecodeException("the record ends within the message indexes");
    }
  }

  /** Returns the bytes of a path. */
  static byte[] write(List<Integer> path) {
    if (path.equals(FIRST)) {
      return new byte[1];
    }
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    CodedOutputStream out = CodedOutputStream.newInstance(bytes);
    try {
      out.writeSInt32NoTag(path.size());
      for (int index : path) {
        out.writeSInt32NoTag(index);
      }
      out.flush();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }
}
