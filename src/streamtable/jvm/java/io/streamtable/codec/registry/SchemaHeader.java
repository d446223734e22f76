package io.streamtable.codec.registry;

import io.streamtable.codec.DecodeException;
import java.nio.ByteBuffer;

/** The header of a record with a registered schema: a zero byte, then four bytes of the id. */
public final class SchemaHeader {
  public static final int LENGTH = 5;

  private static final byte MAGIC = 0;

  private SchemaHeader() {}

  /** Returns the header of an id. */
  public static byte[] of(int id) {
    return ByteBuffer.allocate(LENGTH).put(MAGIC).putInt(id).array();
  }

  /** Returns the id in the header of a record. */
  public static int id(byte[] bytes) throws DecodeException {
    if (bytes.length < LENGTH) {
      throw new DecodeException(
          bytes.length + " bytes are too few for a magic byte and a schema id");
    }
    if (bytes[0] != MAGIC) {
      throw new DecodeException(
          String.format("the magic byte is 0x%02x, not 0x00: no schema id follows", bytes[0]));
    }
    return ByteBuffer.wrap(bytes).getInt(1);
  }

  /** Returns the error of a record whose schema the registry did not give. */
  public static DecodeException fault(int id, RegistryFault fault) {
    String who = "the schema registry at " + fault.where();
    boolean isDown = fault.condition().equals(RegistryFault.UNREACHABLE);
    String said = isDown ? "no answer from " + who + ": " : who + " says: ";
    String reason = "schema id " + id + ": " + said + fault.getMessage();
    return fault.isDefinite() ? new DecodeException(reason) : DecodeException.outage(reason);
  }
}
