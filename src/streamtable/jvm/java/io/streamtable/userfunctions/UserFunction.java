package io.streamtable.userfunctions;

import java.io.Serializable;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.DataType;

/**
 * Calls a function of the user, from an expression. Each task has its own instance: it is opened
 * before the first row, and closed at the end of the task.
 */
public final class UserFunction implements Serializable {
  private final Signature signature;
  private final DataType[] types;
  private final DataType result;
  private transient OpenFunction open;

  UserFunction(Signature signature, DataType[] types, DataType result) {
    this.signature = signature;
    this.types = types;
    this.result = result;
  }

  /**
   * Calls the function with the fields of a row.
   *
   * @return the internal value of the result; for a table function, the array of its rows
   */
  public Object call(InternalRow arguments) {
    if (open != null) {
      return open.call(arguments);
    }
    OpenFunction opened = new OpenFunction(signature, types, result);
    TaskContext task = TaskContext.get();
    if (task == null) { // the optimizer computes a constant, once
      try {
        return opened.call(arguments);
      } finally {
        opened.close();
      }
    }
    open = opened;
    task.addTaskCompletionListener(
        ended -> {
          open = null;
          opened.close();
        });
    return opened.call(arguments);
  }
}
