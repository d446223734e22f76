package io.streamtable.codec.protobuf;

import com.google.protobuf.AnyProto;
import com.google.protobuf.ApiProto;
import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.DescriptorProtos;
import com.google.protobuf.Descriptors.DescriptorValidationException;
import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.DurationProto;
import com.google.protobuf.EmptyProto;
import com.google.protobuf.FieldMaskProto;
import com.google.protobuf.SourceContextProto;
import com.google.protobuf.StructProto;
import com.google.protobuf.TimestampProto;
import com.google.protobuf.TypeProto;
import com.google.protobuf.WrappersProto;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Files that a schema imports without a reference: those of protobuf, and the other known types of
 * Confluent's serializers, which leave them out of the references. Python's columns have the same
 * messages.
 */
final class KnownFiles {
  private static final Map<String, FileDescriptor> ALL = new HashMap<>();

  static {
    Stream.of(
            DescriptorProtos.getDescriptor(),
            AnyProto.getDescriptor(),
            ApiProto.getDescriptor(),
            DurationProto.getDescriptor(),
            EmptyProto.getDescriptor(),
            FieldMaskProto.getDescriptor(),
            SourceContextProto.getDescriptor(),
            StructProto.getDescriptor(),
            TimestampProto.getDescriptor(),
            TypeProto.getDescriptor(),
            WrappersProto.getDescriptor())
        .forEach(file -> ALL.put(file.getName(), file));
    confluent("meta", """
        message Meta {
          string doc = 1;
          map<string, string> params = 2;
          repeated string tags = 3;
          repeated Rule rules = 4;
        }
        message Rule { string name = 1; string doc = 2; string expr = 3; string sql = 4; }
        """);
    confluent(
        "type/decimal", "message Decimal { bytes value = 1; uint32 precision = 2; int32 scale = 3; }");
    confluent("type/variant", "message Variant { bytes metadata = 1; bytes value = 2; }");
    google("calendar_period", """
        enum CalendarPeriod {
          CALENDAR_PERIOD_UNSPECIFIED = 0; DAY = 1; WEEK = 2; FORTNIGHT = 3; MONTH = 4;
          QUARTER = 5; HALF = 6; YEAR = 7;
        }
        """);
    google("color", """
        import "google/protobuf/wrappers.proto";
        message Color {
          float red = 1; float green = 2; float blue = 3; google.protobuf.FloatValue alpha = 4;
        }
        """);
    google("date", "message Date { int32 year = 1; int32 month = 2; int32 day = 3; }");
    google("datetime", """
        import "google/protobuf/duration.proto";
        message DateTime {
          int32 year = 1; int32 month = 2; int32 day = 3;
          int32 hours = 4; int32 minutes = 5; int32 seconds = 6; int32 nanos = 7;
          oneof time_offset { google.protobuf.Duration utc_offset = 8; TimeZone time_zone = 9; }
        }
        message TimeZone { string id = 1; string version = 2; }
        """);
    google("dayofweek", """
        enum DayOfWeek {
          DAY_OF_WEEK_UNSPECIFIED = 0; MONDAY = 1; TUESDAY = 2; WEDNESDAY = 3; THURSDAY = 4;
          FRIDAY = 5; SATURDAY = 6; SUNDAY = 7;
        }
        """);
    google("decimal", "message Decimal { string value = 1; }");
    google("expr", """
        message Expr {
          string expression = 1; string title = 2; string description = 3; string location = 4;
        }
        """);
    google("fraction", "message Fraction { int64 numerator = 1; int64 denominator = 2; }");
    google("interval", """
        import "google/protobuf/timestamp.proto";
        message Interval {
          google.protobuf.Timestamp start_time = 1; google.protobuf.Timestamp end_time = 2;
        }
        """);
    google("latlng", "message LatLng { double latitude = 1; double longitude = 2; }");
    google("money", "message Money { string currency_code = 1; int64 units = 2; int32 nanos = 3; }");
    google("month", """
        enum Month {
          MONTH_UNSPECIFIED = 0; JANUARY = 1; FEBRUARY = 2; MARCH = 3; APRIL = 4; MAY = 5; JUNE = 6;
          JULY = 7; AUGUST = 8; SEPTEMBER = 9; OCTOBER = 10; NOVEMBER = 11; DECEMBER = 12;
        }
        """);
    google("phone_number", """
        message PhoneNumber {
          message ShortCode { string region_code = 1; string number = 2; }
          oneof kind { string e164_number = 1; ShortCode short_code = 2; }
          string extension = 3;
        }
        """);
    google("postal_address", """
        message PostalAddress {
          int32 revision = 1; string region_code = 2; string language_code = 3;
          string postal_code = 4; string sorting_code = 5; string administrative_area = 6;
          string locality = 7; string sublocality = 8; repeated string address_lines = 9;
          repeated string recipients = 10; string organization = 11;
        }
        """);
    google("quaternion", "message Quaternion { double x = 1; double y = 2; double z = 3; double w = 4; }");
    google("timeofday", """
        message TimeOfDay { int32 hours = 1; int32 minutes = 2; int32 seconds = 3; int32 nanos = 4; }
        """);
  }

  private KnownFiles() {}

  /** Returns the file of a name, or null. */
  static FileDescriptor find(String name) {
    return ALL.get(name);
  }

  private static void confluent(String name, String content) {
    add("confluent/" + name + ".proto", content);
  }

  private static void google(String name, String content) {
    add("google/type/" + name + ".proto", content);
  }

  /** Adds a file whose package is its folder. */
  private static void add(String name, String content) {
    String folder = name.substring(0, name.lastIndexOf('/')).replace('/', '.');
    String text = "syntax = \"proto3\"; package " + folder + ";\n" + content;
    FileDescriptorProto file = ProtoText.compile(name, text);
    FileDescriptor[] imports =
        file.getDependencyList().stream().map(ALL::get).toArray(FileDescriptor[]::new);
    try {
      ALL.put(name, FileDescriptor.buildFrom(file, imports));
    } catch (DescriptorValidationException e) {
      throw new IllegalStateException(e); // the texts above are valid
    }
  }
}
