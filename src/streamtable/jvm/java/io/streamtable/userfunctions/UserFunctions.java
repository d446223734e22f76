package io.streamtable.userfunctions;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.CreateNamedStruct;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.objects.Invoke;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.types.AbstractDataType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.ObjectType;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;
import scala.runtime.AbstractFunction1;

/** Registers user-defined functions of Flink in Spark's SQL, one name per signature. */
public final class UserFunctions {
  private UserFunctions() {}

  /**
   * Registers one signature of a function in a session and in the queries that it starts.
   *
   * @param sqlName its name in Spark
   * @param result its Spark type, as DDL
   * @param deterministic whether equal arguments give equal results
   */
  public static void register(
      SparkSession session,
      String sqlName,
      String name,
      String className,
      List<String> parameters,
      boolean spread,
      List<String> in,
      boolean table,
      String result,
      boolean deterministic) {
    Signature signature =
        new Signature(
            name, className, List.copyOf(parameters), spread, List.copyOf(in), table);
    session
        .sessionState()
        .functionRegistry()
        .createOrReplaceTempFunction(
            sqlName, new Entry(signature, DataType.fromDDL(result), deterministic), "scala_udf");
  }

  private static final class Entry extends AbstractFunction1<Seq<Expression>, Expression> {
    private final Signature signature;
    private final DataType result;
    private final boolean deterministic;

    Entry(Signature signature, DataType result, boolean deterministic) {
      this.signature = signature;
      this.result = result;
      this.deterministic = deterministic;
    }

    @Override
    public Expression apply(Seq<Expression> arguments) {
      List<Expression> named = new ArrayList<>();
      List<DataType> types = new ArrayList<>();
      for (Expression argument : CollectionConverters.asJava(arguments)) {
        named.add(Literal.create("a" + types.size(), DataTypes.StringType));
        named.add(argument);
        types.add(argument.dataType());
      }
      UserFunction function =
          new UserFunction(signature, types.toArray(DataType[]::new), result);
      return new Invoke(
          new Literal(function, new ObjectType(UserFunction.class)),
          "call",
          result,
          CollectionConverters.asScala(
                  List.<Expression>of(
                      new CreateNamedStruct(CollectionConverters.asScala(named).toSeq())))
              .toSeq(),
          CollectionConverters.asScala(List.<AbstractDataType>of()).toSeq(),
          false, // a NULL inside the struct is an argument
          true,
          deterministic);
    }
  }
}
