"""The .proto schema of the columns of a row."""

from __future__ import annotations

import pytest

from streamtable.core import types as t
from streamtable.core.errors import StreamtableError
from streamtable.core.types import DataType, Field
from streamtable.formats.protobuf.schema import proto_schema

PLACE = t.row(Field("city", t.STRING), Field("zip", t.INT.with_nullable(False)))


def test_every_type() -> None:
    columns = (
        Field("id", t.BIGINT.with_nullable(False)),
        Field("ok", t.BOOLEAN),
        Field("seen", t.timestamp(3)),
        Field("tags", t.array(t.STRING)),
        Field("counts", t.map_of(t.STRING, t.DOUBLE)),
        Field("places", t.array(PLACE)),
    )
    assert proto_schema(columns).splitlines() == [
        'syntax = "proto3";',
        'import "google/protobuf/timestamp.proto";',
        "",
        "message Row {",
        "  message PlacesRow {",
        "    optional string city = 1;",
        "    int32 zip = 2;",
        "  }",
        "  int64 id = 1;",
        "  optional bool ok = 2;",
        "  google.protobuf.Timestamp seen = 3;",
        "  repeated string tags = 4;",
        "  map<string, double> counts = 5;",
        "  repeated PlacesRow places = 6;",
        "}",
    ]


@pytest.mark.parametrize(
    ("name", "type_", "reason"),
    [
        ("x", t.DATE, "column 'x': protobuf has no such type here"),
        ("x", t.array(t.array(t.INT)), "column 'x': protobuf has no such type here"),
        ("x", t.map_of(t.DOUBLE, t.INT), "column 'x': protobuf has no map with such a key"),
        ("a b", t.INT, "column 'a b': names of protobuf"),
        ("x", t.row(Field("y", t.DATE)), "column 'x.y': protobuf has no such type here"),
    ],
)
def test_unsupported_types_and_names(name: str, type_: DataType, reason: str) -> None:
    with pytest.raises(StreamtableError, match=reason):
        proto_schema((Field(name, type_),))
