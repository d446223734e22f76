package io.streamtable.operators.aggregate;

import io.streamtable.operators.accumulator.PythonAccumulator;
import java.util.List;
import org.apache.spark.sql.types.DataTypes;

/** The part of a stored {@link Aggregation} that decides how many state columns it has. */
public record StoredCall(
    String function, boolean distinct, List<String> parameters, boolean python) {
  int columns(boolean retracting) {
    if (python) {
      return PythonAccumulator.COLUMNS;
    }
    // Any types and positions: they do not change the number of columns.
    Aggregation call =
        new Aggregation(
            function, 0, -1, distinct, DataTypes.LongType, DataTypes.LongType, parameters, null);
    return call.accumulator(retracting, false).columns("").size();
  }
}
