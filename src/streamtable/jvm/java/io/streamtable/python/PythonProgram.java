package io.streamtable.python;

import java.io.Serializable;
import java.math.BigInteger;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.api.python.PythonFunction;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.FunctionIdentifier;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.PythonUDF;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * A pickled Python function of a session, with what a process needs to run it.
 *
 * @param id hash of the pickled function
 * @param executable the Python interpreter
 * @param environment additional environment variables of the process
 * @param files names of files that Spark sends to its executors, for the import path
 * @param pickled the pair of function and result type, as PySpark pickles it
 */
public record PythonProgram(
    String id,
    String executable,
    Map<String, String> environment,
    List<String> files,
    byte[] pickled)
    implements Serializable {
  /**
   * Returns the function that PySpark has registered in a session.
   *
   * @throws IllegalStateException the pickled function is larger than Spark sends without a
   *     broadcast
   */
  public static PythonProgram of(SparkSession session, String name) {
    Seq<Expression> none = CollectionConverters.asScala(List.<Expression>of()).toSeq();
    Expression call =
        ((org.apache.spark.sql.classic.SparkSession) session)
            .sessionState()
            .catalog()
            .lookupFunction(new FunctionIdentifier(name), none);
    PythonFunction function = ((PythonUDF) call).func();
    if (!function.broadcastVars().isEmpty()) {
      throw new IllegalStateException(
          "the aggregate function " + name + " and its module are too large to send: raise"
              + " spark.broadcast.UDFCompressionThreshold");
    }
    byte[] pickled = bytes(function.command());
    return new PythonProgram(
        hash(pickled),
        function.pythonExec(),
        new HashMap<>(function.envVars()),
        new ArrayList<>(function.pythonIncludes()),
        pickled);
  }

  private static byte[] bytes(Seq<Object> command) {
    byte[] bytes = new byte[command.length()];
    scala.collection.Iterator<Object> each = command.iterator();
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (Byte) each.next();
    }
    return bytes;
  }

  private static String hash(byte[] bytes) {
    try {
      byte[] digest = MessageDigest.getInstance("SHA-256").digest(bytes);
      return new BigInteger(1, digest).toString(16);
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException(impossible);
    }
  }
}
