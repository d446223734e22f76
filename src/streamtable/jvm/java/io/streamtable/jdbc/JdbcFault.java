package io.streamtable.jdbc;

import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLRecoverableException;
import java.sql.SQLTransientException;
import java.util.Set;

/**
 * An error of a database. Its message is {@code kind|url|reason}, in one line and without secrets.
 */
public final class JdbcFault extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** What went wrong, for the user's hint. */
  enum Kind {
    LOGIN,
    UNREACHABLE,
    REFUSED,
    MISFIT
  }

  /** Classes of SQLSTATE that a repetition does not mend: data, constraints, login, syntax. */
  private static final Set<String> PERMANENT = Set.of("0A", "22", "23", "28", "3D", "42");

  /** Error codes of MySQL for a refused login. */
  private static final Set<Integer> MYSQL_LOGIN = Set.of(1044, 1045, 1049, 1698);

  private JdbcFault(Kind kind, JdbcAccess access, String reason) {
    super(kind + "|" + access.shownUrl() + "|" + access.withoutSecrets(oneLine(reason)));
  }

  /** Describes an error of a driver. */
  static JdbcFault of(SQLException error, JdbcAccess access, String what) {
    SQLException cause = root(error);
    Kind kind =
        isLogin(cause)
            ? Kind.LOGIN
            : isConnection(cause) ? Kind.UNREACHABLE : Kind.REFUSED;
    return new JdbcFault(kind, access, what + ": " + message(cause));
  }

  /** Describes a table that does not fit its declaration. */
  static JdbcFault misfit(JdbcAccess access, String reason) {
    return new JdbcFault(Kind.MISFIT, access, reason);
  }

  /** Returns whether the same statement may succeed later. */
  static boolean isTransient(SQLException error) {
    SQLException cause = root(error);
    if (isConnection(cause) || cause instanceof SQLTransientException) {
      return true;
    }
    String state = cause.getSQLState();
    if (state == null || state.length() < 2) {
      return String.valueOf(cause.getMessage()).contains("SQLITE_BUSY");
    }
    return !PERMANENT.contains(state.substring(0, 2)) && !isLogin(cause);
  }

  private static boolean isLogin(SQLException error) {
    String state = String.valueOf(error.getSQLState());
    return state.startsWith("28") || state.startsWith("3D") || MYSQL_LOGIN.contains(error.getErrorCode());
  }

  private static boolean isConnection(SQLException error) {
    String state = String.valueOf(error.getSQLState());
    return error instanceof SQLNonTransientConnectionException && !isLogin(error)
        || error instanceof SQLRecoverableException
        || state.startsWith("08")
        || state.startsWith("57P");
  }

  /** Returns the error of the row that failed in a batch. */
  private static SQLException root(SQLException error) {
    SQLException cause = error;
    while (cause.getNextException() != null) {
      cause = cause.getNextException();
    }
    return cause;
  }

  private static String message(SQLException error) {
    return error.getMessage() == null ? error.getClass().getSimpleName() : error.getMessage();
  }

  private static String oneLine(String text) {
    return text.replaceAll("\\s+", " ").strip();
  }
}
