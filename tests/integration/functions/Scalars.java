package com.example;

import java.math.BigDecimal;
import java.time.Instant;
import java.time.LocalDateTime;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.apache.flink.metrics.Counter;
import org.apache.flink.table.annotation.DataTypeHint;
import org.apache.flink.table.annotation.FunctionHint;
import org.apache.flink.table.annotation.InputGroup;
import org.apache.flink.table.functions.FunctionContext;
import org.apache.flink.table.functions.ScalarFunction;
import org.apache.flink.table.functions.TableFunction;
import org.apache.flink.types.Row;

/** Functions of tests, written against Flink's API as users write them. */
public final class Scalars {
  private Scalars() {}

  public static class Overloaded extends ScalarFunction {
    public String eval(Integer a) {
      return "Integer " + a;
    }

    public String eval(Long a) {
      return "Long " + a;
    }

    public String eval(Double a) {
      return "Double " + a;
    }

    public String eval(String a) {
      return "String " + a;
    }

    public String eval(String a, Integer... more) {
      return "String " + a + " and " + Arrays.toString(more);
    }

    public int eval(boolean a, int b) {
      return a ? b : -b;
    }

    public long eval(boolean a, boolean b, long... more) {
      return Arrays.stream(more).sum();
    }
  }

  public static class Values extends ScalarFunction {
    public @DataTypeHint("DECIMAL(12, 3)") BigDecimal eval(
        @DataTypeHint("DECIMAL(10, 2)") BigDecimal a,
        @DataTypeHint("DECIMAL(10, 2)") BigDecimal b) {
      return a == null || b == null ? null : a.add(b);
    }

    public @DataTypeHint("ROW<s STRING, t TIMESTAMP_LTZ(3)>") Row eval(int seconds) {
      return Row.of(String.valueOf(seconds), Instant.ofEpochSecond(seconds));
    }

    public String eval(@DataTypeHint("ROW<a INT, b STRING>") Row row) {
      return row == null ? "none" : row + " a=" + row.getField("a");
    }

    public Integer[] eval(Integer[] array) {
      Integer[] found = array.clone();
      found[0] = null;
      return found;
    }

    public Map<String, Integer> eval(Map<String, Integer> map) {
      return map;
    }

    public List<String> eval(List<String> list, int ignored) {
      return list;
    }

    public LocalDateTime eval(LocalDateTime time) {
      return time.plusDays(1);
    }

    public byte[] eval(byte[] bytes) {
      return new byte[] {bytes[0]};
    }
  }

  @FunctionHint(
      input = {@DataTypeHint("INT"), @DataTypeHint("INT")},
      output = @DataTypeHint("INT"))
  @FunctionHint(
      input = {@DataTypeHint("BIGINT"), @DataTypeHint("BIGINT")},
      output = @DataTypeHint("BIGINT"))
  @FunctionHint(
      input = {},
      output = @DataTypeHint("BOOLEAN"))
  public static class Hinted extends ScalarFunction {
    public Object eval(Object... given) {
      if (given.length == 0) {
        return false;
      }
      return given[0] instanceof Integer
          ? (Object) ((Integer) given[0] + (Integer) given[1])
          : (Object) ((Long) given[0] + (Long) given[1]);
    }
  }

  public static class ClassOf extends ScalarFunction {
    public String eval(@DataTypeHint(inputGroup = InputGroup.ANY) Object value) {
      return value == null ? "null" : value.getClass().getSimpleName();
    }
  }

  public static class Opened extends ScalarFunction {
    private Counter calls;

    @Override
    public void open(FunctionContext context) throws Exception {
      super.open(context);
      calls = context.getMetricGroup().counter("calls");
    }

    @Override
    public boolean isDeterministic() {
      return false;
    }

    public String eval() {
      calls.inc();
      return "call " + calls.getCount();
    }
  }

  public static class Failing extends ScalarFunction {
    public String eval(String text) {
      throw new IllegalStateException("cannot take " + text);
    }
  }

  @FunctionHint(output = @DataTypeHint("ROW<word STRING, size INT>"))
  public static class Words extends TableFunction<Row> {
    public void eval(String text) {
      for (String word : text.split(" ")) {
        collect(Row.of(word, word.length()));
      }
    }
  }

  public static class Letters extends TableFunction<String> {
    public void eval(String text, String without) {
      for (String letter : text.split(without)) {
        collect(letter);
      }
    }
  }

  public static class Unhinted extends ScalarFunction {
    public BigDecimal eval(BigDecimal value) {
      return value;
    }
  }

  public static class Unnamed extends ScalarFunction {
    public String call(String text) {
      return text;
    }
  }
}
