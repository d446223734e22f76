package io.streamtable.functions;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.apache.spark.sql.catalyst.analysis.FunctionRegistry;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.objects.StaticInvoke;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.types.AbstractDataType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.ObjectType;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;
import scala.runtime.AbstractFunction1;

/**
 * Registers the functions that Spark lacks or defines differently, under names that Spark SQL can
 * call.
 *
 * <p>Each function is a static method on Spark's internal values with {@link SqlFunction}. Its name
 * is `flink_` plus the method's name.
 */
public final class Functions {
  private static final List<Class<?>> OWNERS =
      List.of(
          Bitmaps.class,
          CharacterTests.class,
          Clock.class,
          DateTexts.class,
          Decimals.class,
          Instants.class,
          JsonFunctions.class,
          Regexps.class,
          Rows.class,
          Texts.class,
          WindowZone.class);

  private Functions() {}

  /** Registers all functions in a session and in the queries that it starts. */
  public static void register(SparkSession session) {
    FunctionRegistry registry = session.sessionState().functionRegistry();
    for (Entry entry : entries()) {
      registry.createOrReplaceTempFunction(entry.sqlName(), entry, "scala_udf");
    }
  }

  private static List<Entry> entries() {
    List<Entry> found = new ArrayList<>();
    for (Class<?> owner : OWNERS) {
      for (Method method : owner.getDeclaredMethods()) {
        SqlFunction declared = method.getAnnotation(SqlFunction.class);
        if (declared != null) {
          found.add(new Entry(owner, method.getName(), declared));
        }
      }
    }
    return found;
  }

  private static final class Entry extends AbstractFunction1<Seq<Expression>, Expression> {
    private final Class<?> in;
    private final String method;
    private final String result;
    private final boolean nullIfNull;
    private final boolean deterministic;

    Entry(Class<?> in, String method, SqlFunction declared) {
      this.in = in;
      this.method = method;
      this.result = declared.value();
      this.nullIfNull = !declared.takesNulls();
      this.deterministic = declared.deterministic();
    }

    String sqlName() {
      return "flink_" + method.replaceAll("([A-Z])", "_$1").toLowerCase(Locale.ROOT);
    }

    @Override
    public Expression apply(Seq<Expression> arguments) {
      return new StaticInvoke(
          in,
          DataType.fromDDL(result), // here, because a start registers all and a script calls few
          method,
          in == Rows.class ? withType(arguments) : arguments,
          CollectionConverters.asScala(List.<AbstractDataType>of()).toSeq(),
          nullIfNull,
          true,
          deterministic,
          Option.empty());
    }

    private static Seq<Expression> withType(Seq<Expression> arguments) {
      List<Expression> all = new ArrayList<>(CollectionConverters.asJava(arguments));
      DataType type = all.get(all.size() - 1).dataType();
      all.add(new Literal(type, new ObjectType(StructType.class)));
      return CollectionConverters.asScala(all).toSeq();
    }
  }
}
