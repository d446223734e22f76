package io.streamtable.functions;

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
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.ObjectType;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;
import scala.runtime.AbstractFunction1;

/**
 * The functions that Spark has not, or has otherwise, under names that Spark SQL can call.
 *
 * <p>Each is a static method over Spark's own values; the name is `flink_` and the method's.
 */
public final class Functions {
  private static final DataType STRINGS = DataTypes.createArrayType(DataTypes.StringType);
  private static final DataType STRING_MAP =
      DataTypes.createMapType(DataTypes.StringType, DataTypes.StringType);

  private Functions() {}

  /** Makes all of them known to a session and to the queries that it starts. */
  public static void register(SparkSession session) {
    FunctionRegistry registry = session.sessionState().functionRegistry();
    for (Entry entry : entries()) {
      registry.createOrReplaceTempFunction(entry.sqlName(), entry, "scala_udf");
    }
  }

  private static List<Entry> entries() {
    List<Entry> found = new ArrayList<>();
    // Not deterministic: Spark then asks for each row.
    found.add(new Entry(Clock.class, "now", DataTypes.TimestampType, false, false));
    for (String name : List.of("isAlpha", "isDecimal", "isDigit")) {
      found.add(nullsGiven(CharacterTests.class, name, DataTypes.BooleanType));
    }
    found.add(strict(CharacterTests.class, "hashCodeOf", DataTypes.IntegerType));
    found.add(strict(Texts.class, "parseUrl", DataTypes.StringType));
    found.add(strict(Texts.class, "instr", DataTypes.IntegerType));
    found.add(nullsGiven(Texts.class, "splitIndex", DataTypes.StringType));
    found.add(strict(Texts.class, "split", STRINGS));
    found.add(strict(Texts.class, "strToMap", STRING_MAP));
    found.add(strict(Texts.class, "encode", DataTypes.BinaryType));
    found.add(strict(Texts.class, "decode", DataTypes.StringType));
    found.add(strict(Regexps.class, "regexpExtract", DataTypes.StringType));
    found.add(strict(Regexps.class, "regexpExtractAll", STRINGS));
    found.add(strict(Regexps.class, "regexpMatches", DataTypes.BooleanType));
    found.add(strict(Regexps.class, "regexpReplace", DataTypes.StringType));
    found.add(strict(Regexps.class, "regexpCount", DataTypes.IntegerType));
    found.add(strict(Regexps.class, "regexpInstr", DataTypes.IntegerType));
    found.add(strict(Regexps.class, "regexpSubstr", DataTypes.StringType));
    found.add(strict(Regexps.class, "similar", DataTypes.BooleanType));
    found.add(strict(DateTexts.class, "format", DataTypes.StringType));
    found.add(strict(DateTexts.class, "formatLegacy", DataTypes.StringType));
    found.add(strict(DateTexts.class, "parse", DataTypes.TimestampNTZType));
    found.add(strict(DateTexts.class, "parseLegacy", DataTypes.TimestampType));
    found.add(strict(DateTexts.class, "parseIn", DataTypes.TimestampType));
    found.add(strict(DateTexts.class, "convertTz", DataTypes.StringType));
    found.add(strict(JsonFunctions.class, "jsonExists", DataTypes.BooleanType));
    found.add(nullsGiven(JsonFunctions.class, "jsonValue", DataTypes.StringType));
    found.add(strict(JsonFunctions.class, "jsonQuery", DataTypes.StringType));
    found.add(strict(JsonFunctions.class, "jsonQueryArray", STRINGS));
    found.add(strict(JsonFunctions.class, "isJson", DataTypes.BooleanType));
    found.add(strict(JsonFunctions.class, "jsonQuote", DataTypes.StringType));
    found.add(strict(JsonFunctions.class, "jsonUnquote", DataTypes.StringType));
    found.add(strict(JsonFunctions.class, "jsonText", DataTypes.StringType));
    found.add(ofRow("jsonObject"));
    found.add(ofRow("jsonArray"));
    found.add(ofRow("jsonString"));
    found.add(ofRow("printf"));
    found.add(strict(Decimals.class, "roundTo", DataTypes.DoubleType));
    found.add(strict(Decimals.class, "truncateTo", DataTypes.DoubleType));
    found.add(strict(Decimals.class, "roundWhole", DataTypes.LongType));
    found.add(strict(Decimals.class, "truncateWhole", DataTypes.LongType));
    return found;
  }

  /** NULL as soon as one argument is. */
  private static Entry strict(Class<?> in, String method, DataType result) {
    return new Entry(in, method, result, true, true);
  }

  private static Entry nullsGiven(Class<?> in, String method, DataType result) {
    return new Entry(in, method, result, false, true);
  }

  /** Its last argument is a row, whose type the method gets as well. */
  private static Entry ofRow(String method) {
    return nullsGiven(Rows.class, method, DataTypes.StringType);
  }

  private static final class Entry extends AbstractFunction1<Seq<Expression>, Expression> {
    private final Class<?> in;
    private final String method;
    private final DataType result;
    private final boolean nullIfNull;
    private final boolean deterministic;

    Entry(
        Class<?> in, String method, DataType result, boolean nullIfNull, boolean deterministic) {
      this.in = in;
      this.method = method;
      this.result = result;
      this.nullIfNull = nullIfNull;
      this.deterministic = deterministic;
    }

    String sqlName() {
      return "flink_" + method.replaceAll("([A-Z])", "_$1").toLowerCase(Locale.ROOT);
    }

    @Override
    public Expression apply(Seq<Expression> arguments) {
      return new StaticInvoke(
          in,
          result,
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
