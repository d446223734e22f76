package io.streamtable.codec;

import java.io.Serializable;
import org.apache.spark.sql.catalyst.InternalRow;

/**
 * Encodes a row into the bytes of one record's key or value. It is the counterpart of
 * {@link Decoder}, with the same constructor and the same lazily built state.
 */
public interface Encoder extends Serializable {
  /** Returns the bytes. The row is read only during the call. */
  byte[] encode(InternalRow row);
}
