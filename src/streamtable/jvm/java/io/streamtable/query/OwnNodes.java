package io.streamtable.query;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.ExperimentalMethods;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.SparkStrategy;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/** Puts logical nodes of ours into plans of Spark. */
public final class OwnNodes {
  private OwnNodes() {}

  /** Returns the analyzed plan of rows. */
  public static LogicalPlan analyzed(Dataset<Row> rows) {
    return ((org.apache.spark.sql.classic.Dataset<Row>) rows).queryExecution().analyzed();
  }

  /**
   * Returns the rows of a node.
   *
   * @param session the session of the rows below the node; it may have been created without our
   *     extension
   * @param strategy plans the node
   */
  public static Dataset<Row> rows(
      org.apache.spark.sql.SparkSession session, LogicalPlan node, SparkStrategy strategy) {
    SparkSession classic = (SparkSession) session;
    register(classic.experimental(), strategy);
    return org.apache.spark.sql.classic.Dataset.ofRows(classic, node);
  }

  /** Returns the items as Spark's nodes take them. */
  public static <T> Seq<T> seq(List<T> items) {
    return CollectionConverters.asScala(items).toSeq();
  }

  private static synchronized void register(ExperimentalMethods methods, SparkStrategy strategy) {
    Seq<SparkStrategy> known = methods.extraStrategies();
    if (!known.contains(strategy)) {
      List<SparkStrategy> all = new ArrayList<>(CollectionConverters.asJava(known));
      all.add(strategy);
      methods.extraStrategies_$eq(seq(all));
    }
  }
}
