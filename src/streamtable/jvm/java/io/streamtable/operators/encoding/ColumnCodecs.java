package io.streamtable.operators.encoding;

import java.time.Instant;
import java.time.LocalDate;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.catalyst.expressions.codegen.UnsafeWriter;
import org.apache.spark.sql.catalyst.util.DateTimeUtils;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/** The codecs of Spark's types. Dates and times are values of java.time. */
final class ColumnCodecs {
  private ColumnCodecs() {}

  /** Returns a new codec of a type; null if there is none. */
  static ColumnCodec of(DataType type) {
    if (type instanceof StructType struct) {
      ColumnCodec[] columns = columns(struct);
      return columns == null ? null : new StructCodec(struct, columns);
    }
    if (type instanceof ArrayType array) {
      ColumnCodec element = of(array.elementType());
      return element == null ? null : new ArrayCodec(element);
    }
    if (type instanceof MapType map) {
      ColumnCodec key = of(map.keyType());
      ColumnCodec value = of(map.valueType());
      return key == null || value == null ? null : new MapCodec(key, value);
    }
    if (type instanceof DecimalType decimal) {
      return new Decimals(decimal);
    }
    if (type.equals(DataTypes.BooleanType)) {
      return new Booleans();
    }
    if (type.equals(DataTypes.ByteType)) {
      return new Bytes();
    }
    if (type.equals(DataTypes.ShortType)) {
      return new Shorts();
    }
    if (type.equals(DataTypes.IntegerType)) {
      return new Integers();
    }
    if (type.equals(DataTypes.LongType)) {
      return new Longs();
    }
    if (type.equals(DataTypes.FloatType)) {
      return new Floats();
    }
    if (type.equals(DataTypes.DoubleType)) {
      return new Doubles();
    }
    if (type.equals(DataTypes.StringType)) {
      return new Strings();
    }
    if (type.equals(DataTypes.BinaryType)) {
      return new Binaries();
    }
    if (type.equals(DataTypes.DateType)) {
      return new Dates();
    }
    if (type.equals(DataTypes.TimestampType)) {
      return new Instants();
    }
    return type.equals(DataTypes.TimestampNTZType) ? new LocalTimes() : null;
  }

  /** Returns new codecs of the columns of a row; null if one has none. */
  static ColumnCodec[] columns(StructType row) {
    ColumnCodec[] columns = new ColumnCodec[row.length()];
    for (int i = 0; i < columns.length; i++) {
      columns[i] = of(row.apply(i).dataType());
      if (columns[i] == null) {
        return null;
      }
    }
    return columns;
  }

  private static final class Booleans extends ColumnCodec {
    Booleans() {
      super(1);
    }

    @Override
    void write(UnsafeWriter writer, int at, Object value) {
      writer.write(at, (boolean) value);
    }

    @Override
    Object read(SpecializedGetters values, int at) {
      return values.getBoolean(at);
    }
  }

  private static final class Bytes extends ColumnCodec {
    Bytes() {
      super(1);
    }

    @Override
    void write(UnsafeWriter writer, int at, Object value) {
      writer.write(at, (byte) value);
    }

    @Override
    Object read(SpecializedGetters values, int at) {
      return values.getByte(at);
    }
  }

  private static final class Shorts extends ColumnCodec {
    Shorts() {
      super(2);
    }

    @Override
    void write(UnsafeWriter writer, int at, Object value) {
      writer.write(at, (short) value);
    }

    @Override
    Object read(SpecializedGetters values, int at) {
      return values.getShort(at);
    }
  }

  private static final class Integers extends ColumnCodec {
    Integers() {
      super(4);
    }

    @Override
    void write(UnsafeWriter writer, int at, Object value) {
      writer.write(at, (int) value);
    }

    @Override
    Object read(SpecializedGetters values, int at) {
      return values.getInt(at);
    }
  }

  private static final class Longs extends ColumnCodec {
    Longs() {
      super(8);
    }

    @Override
    void write(UnsafeWriter writer, int at, Object value) {
      writer.write(at, (long) value);
    }

    @Override
    Object read(SpecializedGetters values, int at) {
      return values.getLong(at);
    }
  }

  private static final class Floats extends ColumnCodec {
    Floats() {
      super(4);
    }

    @Override
    void write(UnsafeWriter writer, int at, Object value) {
      writer.write(at, (float) value);
    }

    @Override
    Object read(SpecializedGetters values, int at) {
      return values.getFloat(at);
    }
  }

  private static final class Doubles extends ColumnCodec {
    Doubles() {
      super(8);
    }

    @Override
    void write(UnsafeWriter writer, int at, Object value) {
      writer.write(at, (double) value);
    }

    @Override
    Object read(SpecializedGetters values, int at) {
      return values.getDouble(at);
    }
  }

  private static final class Strings extends ColumnCodec {
    Strings() {
      super(8);
    }

    @Override
    void write(UnsafeWriter writer, int at, Object value) {
      writer.write(at, UTF8String.fromString((String) value));
    }

    @Override
    Object read(SpecializedGetters values, int at) {
      return values.getUTF8String(at).toString();
    }
  }

  private static final class Binaries extends ColumnCodec {
    Binaries() {
      super(8);
    }

    @Override
    void write(UnsafeWriter writer, int at, Object value) {
      writer.write(at, (byte[]) value);
    }

    @Override
    Object read(SpecializedGetters values, int at) {
      return values.getBinary(at);
    }
  }

  private static final class Dates extends ColumnCodec {
    Dates() {
      super(4);
    }

    @Override
    void write(UnsafeWriter writer, int at, Object value) {
      writer.write(at, DateTimeUtils.localDateToDays((LocalDate) value));
    }

    @Override
    Object read(SpecializedGetters values, int at) {
      return DateTimeUtils.daysToLocalDate(values.getInt(at));
    }
  }

  private static final class Instants extends ColumnCodec {
    Instants() {
      super(8);
    }

    @Override
    void write(UnsafeWriter writer, int at, Object value) {
      writer.write(at, DateTimeUtils.instantToMicros((Instant) value));
    }

    @Override
    Object read(SpecializedGetters values, int at) {
      return DateTimeUtils.microsToInstant(values.getLong(at));
    }
  }

  private static final class Decimals extends ColumnCodec {
    private final int precision;
    private final int scale;
    private final boolean nullOnOverflow = !SQLConf.get().ansiEnabled();

    Decimals(DecimalType type) {
      super(8);
      precision = type.precision();
      scale = type.scale();
    }

    @Override
    void write(UnsafeWriter writer, int at, Object value) {
      Decimal found = Decimal.fromDecimal(value);
      Decimal exact =
          found.toPrecision(precision, scale, Decimal.ROUND_HALF_UP(), nullOnOverflow, null);
      if (exact == null) {
        writeNull(writer, at);
      } else {
        writer.write(at, exact, precision, scale);
      }
    }

    @Override
    void writeNull(UnsafeWriter writer, int at) {
      if (precision > Decimal.MAX_LONG_DIGITS()) {
        // Space for a value is reserved, as Spark does, so that equal rows have equal bytes.
        writer.write(at, (Decimal) null, precision, scale);
      } else {
        super.writeNull(writer, at);
      }
    }

    @Override
    Object read(SpecializedGetters values, int at) {
      return values.getDecimal(at, precision, scale).toJavaBigDecimal();
    }
  }
}
