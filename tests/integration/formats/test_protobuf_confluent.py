"""Tests of protobuf-confluent: writer schemas, message indexes, references, broken bytes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.formats.registry_double import RegistryDouble
from tests.integration.formats.test_avro_confluent import decode_fault

from streamtable.connector_api.registered import RegisteredSchema
from streamtable.core import types as t
from streamtable.core.types import Field
from streamtable.formats.protobuf.columns import proto_columns
from streamtable.formats.protobuf.known import KNOWN_FILES

if TYPE_CHECKING:
    from collections.abc import Iterator

COLUMNS = (Field("id", t.BIGINT.with_nullable(False)), Field("name", t.STRING))
#: `Deep` has the message indexes 1, 0. Its field numbers differ from those of a derived schema.
NESTED = """syntax = "proto3";
import "shared/place.proto";
message First { int64 id = 1; }
message Second {
  map<string, int32> counts = 4;
  message Deep { optional string name = 7; int64 id = 9; Place place = 3; }
}
"""
#: Files that Confluent's serializers leave out of the references.
IMPORTED = (
    *("google/protobuf/any", "google/protobuf/duration", "google/protobuf/field_mask"),
    *("google/protobuf/wrappers", "confluent/meta", "confluent/type/decimal"),
    *("confluent/type/variant", "google/type/calendar_period", "google/type/color"),
    *("google/type/date", "google/type/datetime", "google/type/dayofweek", "google/type/decimal"),
    *("google/type/expr", "google/type/fraction", "google/type/interval", "google/type/latlng"),
    *("google/type/money", "google/type/month", "google/type/phone_number"),
    *("google/type/postal_address", "google/type/quaternion", "google/type/timeofday"),
)
PLACE = 'syntax = "proto3"; message Place { string city = 2; }'


@pytest.fixture
def double() -> Iterator[RegistryDouble]:
    with RegistryDouble() as running:
        yield running


def record(schema_id: int, rest: bytes) -> bytes:
    return b"\0" + schema_id.to_bytes(4, "big") + rest


def as_json(codecs: Any, row: Any, columns: tuple[Field, ...] = COLUMNS) -> Any:
    return json.loads(bytes(codecs.encoder("json", columns, {}).encode(row)))


def test_a_derived_schema(codecs: Any, double: RegistryDouble) -> None:
    options = {"url": double.url, "subject": "s"}
    encoder = codecs.encoder("protobuf-confluent", COLUMNS, options)
    assert json.loads(double.bodies[-1]) == {
        "schemaType": "PROTOBUF",
        "schema": 'syntax = "proto3";\n\nmessage Row {\n  int64 id = 1;\n'
        "  optional string name = 2;\n}\n",
    }
    decoder = codecs.decoder("protobuf-confluent", COLUMNS, options)
    for value in (b"\x08\x07\x12\x01a", b"\x08\x07", b""):
        bytes_ = record(1, b"\0" + value)  # one zero byte stands for the first message
        assert bytes(encoder.encode(decoder.decode(bytes_))) == bytes_
    rows = [as_json(codecs, decoder.decode(record(1, b"\0" + v))) for v in (b"\x12\x00", b"")]
    assert rows == [{"id": 0, "name": ""}, {"id": 0, "name": None}]


def test_the_schema_of_the_record_decides(codecs: Any, double: RegistryDouble) -> None:
    known = double.add(NESTED, "PROTOBUF")
    reference = {"name": "shared/place.proto", "subject": "place", "version": 3}
    double.schemas[known]["references"] = [reference]
    double.subjects["/subjects/place/versions/3"] = {"schema": PLACE, "schemaType": "PROTOBUF"}
    columns = (*COLUMNS, Field("place", t.row(Field("city", t.STRING))))
    decoder = codecs.decoder("protobuf-confluent", columns, {"url": double.url})
    deep = record(known, b"\x04\x02\x00" + b"\x3a\x01a\x48\x07\x1a\x03\x12\x01K")
    expected = {"id": 7, "name": "a", "place": {"city": "K"}}
    assert as_json(codecs, decoder.decode(deep), columns) == expected
    asked = len(double.asked)
    decoder.decode(deep)
    assert len(double.asked) == asked
    options = {"url": double.url, "subject": "s", "schema": NESTED.replace("Place place = 3;", "")}
    options["schema"] = options["schema"].replace('import "shared/place.proto";', "")
    encoder = codecs.encoder(
        "protobuf-confluent", COLUMNS, {**options, "message-class-name": "Second.Deep"}
    )
    row = codecs.decoder("protobuf-confluent", COLUMNS, options).decode(deep)
    written = bytes(encoder.encode(row))
    assert written == record(known + 1, b"\x04\x02\x00" + b"\x3a\x01a\x48\x07")


def test_known_types(codecs: Any, double: RegistryDouble) -> None:
    """Known types need no references, as Confluent's serializers skip them (`skip.known.types`)."""
    names = [name for file in KNOWN_FILES for name in (*file.messages, *file.enums)]
    fields = [
        f'{name} f{n} = {n} [(confluent.field_meta) = {{ params: [{{ key: "a", value: "b" }}] }}];'
        for n, name in enumerate(names, 1)
    ]
    imports = [f'import "{file}.proto";' for file in IMPORTED]
    text = "\n".join(['syntax = "proto3";', *imports, "message M {", *fields, "}"])
    columns = proto_columns(RegisteredSchema(text), None)
    known = double.add(text, "PROTOBUF")
    decoder = codecs.decoder("protobuf-confluent", columns, {"url": double.url})
    enums = {name for file in KNOWN_FILES for name in file.enums}
    # Messages are empty, enums have the number 1. A tag has the field number and the wire type.
    value = b"".join(
        tag(n, 0) + b"\x01" if name in enums else tag(n, 2) + b"\0"
        for n, name in enumerate(names, 1)
    )
    row = decoder.decode(record(known, b"\0" + value))
    read = dict(zip(names, as_json(codecs, row, columns).values(), strict=True))
    assert None not in read.values()
    assert {name: read[name] for name in enums} == {
        "google.type.CalendarPeriod": "DAY",
        "google.type.DayOfWeek": "MONDAY",
        "google.type.Month": "JANUARY",
    }
    assert read["confluent.type.Decimal"] == {"value": "", "precision": 0, "scale": 0}
    options = {"url": double.url, "subject": "s", "schema": text}
    written = bytes(codecs.encoder("protobuf-confluent", columns, options).encode(row))
    assert as_json(codecs, decoder.decode(written), columns) == as_json(codecs, row, columns)


def tag(number: int, wire: int) -> bytes:
    """Return the tag of a field as a varint."""
    whole = number << 3 | wire
    return bytes([whole]) if whole < 128 else bytes([whole & 127 | 128, whole >> 7])


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (b"\0\0", "2 bytes are too few for a magic byte and a schema id"),
        (record(1, b""), "the record ends within the message indexes"),
        (record(1, b"\x02\x08"), "schema id 1: it has no message at the indexes [4]"),
        (record(1, b"\0\x08"), "ended unexpectedly"),
        (record(2, b"\0"), "the schema is of the type AVRO, not PROTOBUF"),
        (record(3, b"\0"), "schema id 3: message 'X' has no field 'id'"),
    ],
)
def test_broken_records(codecs: Any, double: RegistryDouble, value: bytes, reason: str) -> None:
    double.add('syntax = "proto3"; message M { int64 id = 1; string name = 2; }', "PROTOBUF")
    double.add('"string"')
    double.add('syntax = "proto3"; message X { int64 x = 1; }', "PROTOBUF")
    decoder = codecs.decoder("protobuf-confluent", COLUMNS, {"url": double.url})
    assert reason in decode_fault(decoder, value)
