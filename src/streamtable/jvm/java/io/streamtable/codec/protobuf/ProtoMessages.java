package io.streamtable.codec.protobuf;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.DynamicMessage;
import com.google.protobuf.InvalidProtocolBufferException;
import io.streamtable.codec.DecodeException;
import io.streamtable.codec.Texts;
import java.io.IOException;
import java.util.HashSet;
import java.util.Set;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.StructType;

/** Reads rows from messages of one type. */
final class ProtoMessages {
  private final ProtoMessageReader reader;
  private final Descriptor checked;

  /** Throws a SchemaFault if the columns do not match the message. */
  ProtoMessages(Descriptor message, StructType columns, ProtoMessageReader.Defaults defaults) {
    reader = new ProtoMessageReader(message, columns, defaults);
    checked = hasRequired(message, new HashSet<>()) ? message : null;
  }

  /** Returns the row of the message from a position to the end. */
  GenericInternalRow read(byte[] bytes, int from) throws DecodeException {
    int length = bytes.length - from;
    try {
      if (checked != null) { // refuses messages without a required field
        DynamicMessage.parseFrom(checked, CodedInputStream.newInstance(bytes, from, length));
      }
      return reader.row(CodedInputStream.newInstance(bytes, from, length), 1);
    } catch (InvalidProtocolBufferException e) {
      throw new DecodeException(Texts.shorten(e.getMessage()));
    } catch (IOException e) {
      throw new DecodeException(Texts.shorten(String.valueOf(e.getMessage())));
    }
  }

  private static boolean hasRequired(Descriptor message, Set<Descriptor> seen) {
    if (!seen.add(message)) {
      return false;
    }
    for (FieldDescriptor field : message.getFields()) {
      boolean isMessage = field.getJavaType() == FieldDescriptor.JavaType.MESSAGE;
      if (field.isRequired() || (isMessage && hasRequired(field.getMessageType(), seen))) {
        return true;
      }
    }
    return false;
  }
}
