package io.streamtable.lookup;

import java.io.Serializable;

/** A table of an external system in which a lookup join finds rows by key. */
public interface LookupTable extends Serializable {
  /** Returns a reader for one task. It may connect on its first lookup. */
  LookupReader open();
}
