package io.streamtable.operators.accumulator;

import io.streamtable.python.PythonProcesses;
import io.streamtable.python.PythonProgram;
import io.streamtable.python.PythonValues;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/**
 * A user's aggregate function in Python.
 *
 * <p>The values of a batch are collected and sent in one request, additions before retractions: no
 * value is retracted before it was added. The result is computed when it is read first. State: the
 * encoded accumulator, whose form the Python side defines, and the result for it, once computed.
 */
public final class PythonAccumulator implements Accumulator {
  /** Number of columns in the state row of a group. */
  public static final int COLUMNS = 3;

  /** Number of collected additions from which on they are sent. */
  private static final int MOST = 10_000;

  private final PythonProgram program;
  private final PythonValues arguments;
  private final String argumentType;
  private final PythonValues results;
  private final DataType resultType;
  private final List<Object> added = new ArrayList<>();
  private final List<Object> retracted = new ArrayList<>();
  private byte[] accumulator;
  private Object result;
  private boolean computed;

  /**
   * @param argumentType a row of the arguments of a call; another type for a call without arguments
   */
  public PythonAccumulator(PythonProgram program, DataType argumentType, DataType resultType) {
    this.program = program;
    this.arguments = new PythonValues(argumentType);
    this.argumentType = argumentType instanceof StructType ? argumentType.json() : "";
    this.results = new PythonValues(resultType);
    this.resultType = resultType;
  }

  @Override
  public boolean ordered() {
    return true;
  }

  @Override
  public List<StructField> columns(String name) {
    return List.of(
        DataTypes.createStructField(name + "_accumulator", DataTypes.BinaryType, true),
        DataTypes.createStructField(name + "_result", resultType, true),
        DataTypes.createStructField(name + "_computed", DataTypes.BooleanType, true));
  }

  @Override
  public void load(Object[] state, int at) {
    accumulator = (byte[]) state[at];
    result = state[at + 1];
    computed = Boolean.TRUE.equals(state[at + 2]);
    added.clear();
    retracted.clear();
  }

  @Override
  public void add(Object value, int sign) {
    (sign > 0 ? added : retracted).add(argumentType.isEmpty() ? new Object[0] : arguments.plain(value));
    computed = false;
    if (added.size() >= MOST) {
      send(added, List.of(), false);
      added.clear();
    }
  }

  @Override
  public void store(Object[] state, int at) {
    if (!computed && !(added.isEmpty() && retracted.isEmpty())) {
      sendAll(false);
    }
    state[at] = accumulator;
    state[at + 1] = computed ? result : null;
    state[at + 2] = computed;
  }

  @Override
  public Object result() {
    if (!computed) {
      sendAll(true);
      computed = true;
    }
    return result;
  }

  private void sendAll(boolean computes) {
    send(added, retracted, computes);
    added.clear();
    retracted.clear();
  }

  /** Sends (length of the accumulator or -1, accumulator, pickled rest); receives the same form. */
  private void send(List<Object> additions, List<Object> retractions, boolean computes) {
    int length = accumulator == null ? -1 : accumulator.length;
    byte[] changes =
        PythonValues.pickled(new Object[] {additions, retractions, computes, argumentType});
    List<byte[]> parts =
        List.of(
            ByteBuffer.allocate(4).putInt(length).array(),
            accumulator == null ? new byte[0] : accumulator,
            changes);
    byte[] answer = PythonProcesses.answer(program, parts);
    int end = 4 + ByteBuffer.wrap(answer).getInt();
    accumulator = Arrays.copyOfRange(answer, 4, end);
    result = computes ? results.unpickled(Arrays.copyOfRange(answer, end, answer.length)) : null;
  }
}
