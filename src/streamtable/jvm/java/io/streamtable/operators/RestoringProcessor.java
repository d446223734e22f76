package io.streamtable.operators;

import io.streamtable.operators.state.NamedState;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.StatefulProcessorWithInitialState;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Fills the state of a processor from the rows of a {@link RestoredState}.
 *
 * <p>As a streaming operator, it reads these rows as Spark's initial state. In a batch, they are its
 * input, and it emits the insert of each group ({@link StateRows}).
 */
final class RestoringProcessor extends StatefulProcessorWithInitialState<Row, Row, Row, Row> {
  private final RowProcessor processor;
  private final List<String> variables;
  private final int[] columns;
  private final int keys;
  private final boolean emits;
  private transient NamedState state;

  /**
   * @param columns see {@link RestoredState#under}
   * @param keys number of grouping columns of a stored row
   * @param emits whether this is a batch
   */
  RestoringProcessor(
      RowProcessor processor,
      List<String> variables,
      int[] columns,
      int keys,
      boolean emits) {
    this.processor = processor;
    this.variables = variables;
    this.columns = columns;
    this.keys = keys;
    this.emits = emits;
  }

  @Override
  public void init(OutputMode outputMode, TimeMode timeMode) {
    state = new NamedState(getHandle());
    processor.setHandle(state);
    processor.init(outputMode, timeMode);
  }

  @Override
  public void handleInitialState(Row key, Row stored, TimerValues timers) {
    restore(stored);
  }

  @Override
  public scala.collection.Iterator<Row> handleInputRows(
      Row key, scala.collection.Iterator<Row> input, TimerValues timers) {
    if (!emits) {
      return processor.handleRows(key, input, timers);
    }
    input.foreach(
        stored -> {
          restore(stored);
          return null;
        });
    List<Row> output = new ArrayList<>(1);
    output.add(((StateRows) processor).current(key));
    return CollectionConverters.asScala(output.iterator());
  }

  private void restore(Row stored) {
    int variable = stored.getInt(keys);
    Object key = stored.get(keys + 1 + 2 * variable);
    Object value = stored.get(keys + 2 + 2 * variable);
    String name = variables.get(variable);
    if (key == null) {
      state.value(name).update(now((Row) value));
    } else {
      state.map(name).updateValue(key, value);
    }
  }

  private Row now(Row stored) {
    if (columns == null) {
      return stored;
    }
    Object[] now = new Object[columns.length];
    for (int i = 0; i < now.length; i++) {
      now[i] = columns[i] == RestoredState.EMPTY ? null : stored.get(columns[i]);
    }
    return RowFactory.create(now);
  }

  @Override
  public String toString() {
    return processor.toString();
  }
}
