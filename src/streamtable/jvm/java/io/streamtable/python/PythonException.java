package io.streamtable.python;

/** An exception of a Python function; the message is Python's traceback. */
public final class PythonException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  PythonException(String traceback) {
    super(traceback);
  }
}
