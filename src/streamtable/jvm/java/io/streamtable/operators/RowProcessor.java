package io.streamtable.operators;

import io.streamtable.operators.bundle.BundleProcessor;
import io.streamtable.operators.state.ClosedStores;
import java.util.List;

/** A stateful processor over rows. Spark's UI and query plans show its name and its keys. */
public abstract class RowProcessor extends BundleProcessor {
  static {
    ClosedStores.atExit(); // here, because each executor loads this class before it opens state
  }

  private String keys = "";

  /** Sets the names of the columns that Spark groups rows by, for {@link #toString}. */
  final void keyedBy(List<String> columns) {
    keys = columns.isEmpty() ? "" : " by (" + String.join(", ", columns) + ")";
  }

  @Override
  public final String toString() {
    return getClass().getSimpleName().replaceFirst("Processor$", "") + keys;
  }
}
