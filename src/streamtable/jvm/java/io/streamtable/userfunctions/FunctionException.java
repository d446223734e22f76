package io.streamtable.userfunctions;

/** The failure of a user's function; `jvm.faults` reads the message. */
final class FunctionException extends RuntimeException {
  private FunctionException(String message, Throwable cause) {
    super(message, cause);
  }

  /**
   * Creates the failure of a function.
   *
   * @param name name of the function in the script
   * @param className its class
   * @param cause the exception that it has thrown
   */
  static FunctionException of(String name, String className, Throwable cause) {
    String place = className;
    for (StackTraceElement frame : cause.getStackTrace()) {
      if (frame.getClassName().startsWith(className)) {
        place = className + "(" + frame.getFileName() + ":" + frame.getLineNumber() + ")";
        break;
      }
    }
    String[] lines = String.valueOf(cause.getMessage()).split("\\R", 2);
    String reason = cause.getClass().getName() + ": " + lines[0];
    return new FunctionException("FUNCTION_FAILED " + name + " at " + place + ": " + reason, cause);
  }
}
