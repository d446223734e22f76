package io.streamtable.jdbc;

import java.io.Serializable;
import java.sql.Connection;
import java.sql.Driver;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;

/**
 * How to connect to a database.
 *
 * @param shownUrl the url without its logins and properties, for messages
 * @param user null for none
 * @param password null for none
 * @param timeoutS longest wait for an answer of an open connection, in seconds
 * @param properties further properties of the driver
 */
public record JdbcAccess(
    Dialect dialect,
    String url,
    String shownUrl,
    String driver,
    String user,
    String password,
    int timeoutS,
    Map<String, String> properties)
    implements Serializable {

  /** Creates the access of a dialect's name. */
  public static JdbcAccess create(
      String dialect,
      String url,
      String shownUrl,
      String driver,
      String user,
      String password,
      int timeoutS,
      Map<String, String> properties) {
    return new JdbcAccess(
        Dialect.valueOf(dialect),
        url,
        shownUrl,
        driver,
        user,
        password,
        timeoutS,
        new HashMap<>(properties));
  }

  /** Opens a connection in auto-commit mode. */
  Connection open() throws SQLException {
    Properties found = new Properties();
    found.putAll(properties);
    if (user != null) {
      found.setProperty("user", user);
    }
    if (password != null) {
      found.setProperty("password", password);
    }
    if (dialect == Dialect.SQLITE) {
      // Wait for the lock of another task instead of failing at once.
      found.setProperty("busy_timeout", String.valueOf(timeoutS * 1000));
      found.setProperty("transaction_mode", "IMMEDIATE");
    }
    Connection connection = driverInstance().connect(url, found);
    if (connection == null) {
      throw new SQLException("driver " + driver + " does not accept this url");
    }
    return connection;
  }

  private Driver driverInstance() throws SQLException {
    ClassLoader loader = Thread.currentThread().getContextClassLoader();
    try {
      return Class.forName(driver, true, loader)
          .asSubclass(Driver.class)
          .getDeclaredConstructor()
          .newInstance();
    } catch (ReflectiveOperationException | ClassCastException e) {
      throw new SQLException("class " + driver + " is not a JDBC driver here: " + e, e);
    }
  }

  String withoutSecrets(String text) {
    String safe = text.replace(url, shownUrl);
    return password == null || password.isEmpty() ? safe : safe.replace(password, "****");
  }

  @Override
  public String toString() {
    return shownUrl;
  }
}
