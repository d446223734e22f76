"""Messages and enums that a schema uses without a reference in the registry.

They come with protobuf, or are the other known types of Confluent's serializers, which leave their
files out of the references. The Java class `KnownFiles` has the files. The messages without columns
are missing here: `google.protobuf.Struct` contains itself, and `google.protobuf.Empty` has no
fields.
"""

from __future__ import annotations

from streamtable.formats.protobuf.text import parse_proto

_PROTOBUF = """
syntax = "proto3";
package google.protobuf;
message Any { string type_url = 1; bytes value = 2; }
message Duration { int64 seconds = 1; int32 nanos = 2; }
message FieldMask { repeated string paths = 1; }
message BoolValue { bool value = 1; }
message BytesValue { bytes value = 1; }
message DoubleValue { double value = 1; }
message FloatValue { float value = 1; }
message Int32Value { int32 value = 1; }
message Int64Value { int64 value = 1; }
message StringValue { string value = 1; }
message UInt32Value { uint32 value = 1; }
message UInt64Value { uint64 value = 1; }
"""
_CONFLUENT = """
syntax = "proto3";
package confluent.type;
message Decimal { bytes value = 1; uint32 precision = 2; int32 scale = 3; }
message Variant { bytes metadata = 1; bytes value = 2; }
"""
_GOOGLE = """
syntax = "proto3";
package google.type;
enum CalendarPeriod { CALENDAR_PERIOD_UNSPECIFIED = 0; }
enum DayOfWeek { DAY_OF_WEEK_UNSPECIFIED = 0; }
enum Month { MONTH_UNSPECIFIED = 0; }
message Color {
  float red = 1;
  float green = 2;
  float blue = 3;
  google.protobuf.FloatValue alpha = 4;
}
message Date { int32 year = 1; int32 month = 2; int32 day = 3; }
message DateTime {
  int32 year = 1;
  int32 month = 2;
  int32 day = 3;
  int32 hours = 4;
  int32 minutes = 5;
  int32 seconds = 6;
  int32 nanos = 7;
  oneof time_offset { google.protobuf.Duration utc_offset = 8; TimeZone time_zone = 9; }
}
message TimeZone { string id = 1; string version = 2; }
message Decimal { string value = 1; }
message Expr {
  string expression = 1;
  string title = 2;
  string description = 3;
  string location = 4;
}
message Fraction { int64 numerator = 1; int64 denominator = 2; }
message Interval {
  google.protobuf.Timestamp start_time = 1;
  google.protobuf.Timestamp end_time = 2;
}
message LatLng { double latitude = 1; double longitude = 2; }
message Money { string currency_code = 1; int64 units = 2; int32 nanos = 3; }
message PhoneNumber {
  message ShortCode { string region_code = 1; string number = 2; }
  oneof kind { string e164_number = 1; ShortCode short_code = 2; }
  string extension = 3;
}
message PostalAddress {
  int32 revision = 1;
  string region_code = 2;
  string language_code = 3;
  string postal_code = 4;
  string sorting_code = 5;
  string administrative_area = 6;
  string locality = 7;
  string sublocality = 8;
  repeated string address_lines = 9;
  repeated string recipients = 10;
  string organization = 11;
}
message Quaternion { double x = 1; double y = 2; double z = 3; double w = 4; }
message TimeOfDay { int32 hours = 1; int32 minutes = 2; int32 seconds = 3; int32 nanos = 4; }
"""

#: The messages by package, for a schema's columns: of an enum, only the name matters.
KNOWN_FILES = tuple(parse_proto(text) for text in (_PROTOBUF, _CONFLUENT, _GOOGLE))
