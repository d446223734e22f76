package io.streamtable.operators.encoding;

import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.catalyst.expressions.codegen.UnsafeWriter;

/**
 * The codec of local times, held as microseconds. It remembers the last date, because most times are
 * of the day of the time before, and the calendar costs more than the rest.
 */
final class LocalTimes extends ColumnCodec {
  private static final long DAY_MICROS = 86_400_000_000L;

  private record Day(LocalDate date, long number) {}

  private Day recent = new Day(LocalDate.EPOCH, 0);

  LocalTimes() {
    super(8);
  }

  @Override
  void write(UnsafeWriter writer, int at, Object value) {
    LocalDateTime time = (LocalDateTime) value;
    LocalDate date = time.toLocalDate();
    Day day = recent;
    if (!date.equals(day.date)) {
      day = new Day(date, date.toEpochDay());
      recent = day;
    }
    long start = Math.multiplyExact(day.number, DAY_MICROS);
    writer.write(at, Math.addExact(start, time.toLocalTime().toNanoOfDay() / 1000));
  }

  @Override
  Object read(SpecializedGetters values, int at) {
    long micros = values.getLong(at);
    long number = Math.floorDiv(micros, DAY_MICROS);
    Day day = recent;
    if (number != day.number) {
      day = new Day(LocalDate.ofEpochDay(number), number);
      recent = day;
    }
    LocalTime time = LocalTime.ofNanoOfDay((micros - number * DAY_MICROS) * 1000);
    return LocalDateTime.of(day.date, time);
  }
}
