"""Columns of registered schemas: types, nullability, references, and schemas without columns."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from streamtable.connector_api.registered import (
    NotARecordError,
    RegisteredSchema,
    RegistryFormat,
)
from streamtable.formats.avro.types import columns_of
from streamtable.formats.registry import FORMATS


def columns(format_: str, schema: RegisteredSchema | str) -> dict[str, str]:
    """Return the columns of a schema with their SQL types."""
    found = FORMATS[format_]
    assert isinstance(found, RegistryFormat)
    whole = RegisteredSchema(schema) if isinstance(schema, str) else schema
    return {field.name: field.type.sql() for field in found.columns(whole, None).fields}


def avro(kind: Any) -> str:
    fields = [{"name": "c", "type": kind}]
    return json.dumps({"type": "record", "name": "r", "namespace": "a.b", "fields": fields})


def logical(kind: str, logical_type: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, "logicalType": logical_type, **more}


AVRO: list[tuple[Any, str]] = [
    ("int", "INT NOT NULL"),
    (["null", "int"], "INT"),
    (["string", "null"], "STRING"),
    ("long", "BIGINT NOT NULL"),
    ("boolean", "BOOLEAN NOT NULL"),
    ("float", "FLOAT NOT NULL"),
    ("double", "DOUBLE NOT NULL"),
    ("bytes", "BYTES NOT NULL"),
    ({"type": "fixed", "name": "f", "size": 4}, "VARBINARY(4) NOT NULL"),
    ({"type": "enum", "name": "e", "symbols": ["A"]}, "STRING NOT NULL"),
    (logical("int", "date"), "DATE NOT NULL"),
    (logical("int", "time-millis"), "TIME(3) NOT NULL"),
    (logical("long", "timestamp-millis"), "TIMESTAMP(3) NOT NULL"),
    (logical("long", "timestamp-micros"), "TIMESTAMP(6) NOT NULL"),
    (logical("bytes", "decimal", precision=9, scale=2), "DECIMAL(9, 2) NOT NULL"),
    (logical("fixed", "decimal", name="f", size=4, precision=9), "DECIMAL(9, 0) NOT NULL"),
    # Avro ignores a decimal that is not valid.
    (logical("fixed", "decimal", name="f", size=4, precision=10), "VARBINARY(4) NOT NULL"),
    (logical("bytes", "decimal"), "BYTES NOT NULL"),
    (logical("bytes", "decimal", precision=2, scale=3), "BYTES NOT NULL"),
    (logical("bytes", "decimal", precision=0), "BYTES NOT NULL"),
    ({"type": "array", "items": ["null", "int"]}, "ARRAY<INT> NOT NULL"),
    ({"type": "map", "values": "int"}, "MAP<STRING NOT NULL, INT NOT NULL> NOT NULL"),
    (
        ["null", {"type": "record", "name": "i", "fields": [{"name": "x", "type": "int"}]}],
        "ROW<`x` INT NOT NULL>",
    ),
]


@pytest.mark.parametrize(("kind", "expected"), AVRO, ids=str)
def test_avro(kind: Any, expected: str) -> None:
    assert columns("avro-confluent", avro(kind)) == {"c": expected}


def test_avro_names_of_two_namespaces() -> None:
    inner = [
        {"type": "record", "name": f"{space}.x", "fields": [{"name": "v", "type": kind}]}
        for space, kind in (("p", "int"), ("q", "string"))
    ]
    fields = [{"name": "a", "type": inner[0]}, {"name": "b", "type": inner[1]}]
    fields += [{"name": "c", "type": "p.x"}, {"name": "d", "type": "q.x"}]
    found = columns("avro-confluent", json.dumps({"type": "record", "name": "r", "fields": fields}))
    assert found["c"] == found["a"] == "ROW<`v` INT NOT NULL> NOT NULL"
    assert found["d"] == found["b"] == "ROW<`v` STRING NOT NULL> NOT NULL"


def test_avro_references_become_part_of_the_schema() -> None:
    money = {"type": "record", "name": "s.Money", "fields": [{"name": "n", "type": "long"}]}
    cart = [{"name": "sum", "type": "s.Money"}]
    parts = RegisteredSchema(
        json.dumps({"type": "record", "name": "s.Cart", "fields": cart}),
        {"s.Money": RegisteredSchema(json.dumps(money))},
    )
    fields = [{"name": "cart", "type": "s.Cart"}, {"name": "tax", "type": "s.Money"}]
    text = json.dumps({"type": "record", "name": "Order", "fields": fields})
    schema = RegisteredSchema(text, {"s.Cart": parts})
    expected = {
        "cart": "ROW<`sum` ROW<`n` BIGINT NOT NULL> NOT NULL> NOT NULL",
        "tax": "ROW<`n` BIGINT NOT NULL> NOT NULL",
    }
    assert columns("avro-confluent", schema) == expected
    found = FORMATS["avro-confluent"]
    assert isinstance(found, RegistryFormat)
    whole = json.loads(found.columns(schema, None).options["schema"])
    assert {field.name: field.type.sql() for field in columns_of(whole)} == expected
    assert whole["fields"][1]["type"] == "s.Money", "a name is defined once"


SOME_REF = {"$ref": "#/definitions/d"}
JSON: list[tuple[Any, str]] = [
    ({"type": "boolean"}, "BOOLEAN"),
    ({"type": "integer"}, "BIGINT"),
    ({"type": "integer", "connect.type": "int8"}, "TINYINT"),
    ({"type": "integer", "connect.type": "int16"}, "SMALLINT"),
    ({"type": "integer", "connect.type": "int32"}, "INT"),
    ({"type": "number"}, "DOUBLE"),
    ({"type": "number", "connect.type": "float32"}, "FLOAT"),
    (
        {
            "type": "number",
            "title": "org.apache.kafka.connect.data.Decimal",
            "connect.parameters": {"scale": "2", "connect.decimal.precision": "9"},
        },
        "DECIMAL(9, 2)",
    ),
    ({"type": "string"}, "STRING"),
    ({"type": "string", "format": "date"}, "DATE"),
    ({"type": "string", "format": "date-time"}, "STRING"),
    ({"type": "string", "contentEncoding": "base64"}, "BYTES"),
    ({"enum": ["a", "b"]}, "STRING"),
    ({"type": ["null", "string"]}, "STRING"),
    ({"oneOf": [{"type": "null"}, {"type": "integer"}]}, "BIGINT"),
    ({"type": "array", "items": {"type": "string"}}, "ARRAY<STRING NOT NULL>"),
    (
        {"type": "object", "additionalProperties": {"type": ["integer", "null"]}},
        "MAP<STRING NOT NULL, BIGINT>",
    ),
    (
        {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]},
        "ROW<`x` BIGINT NOT NULL>",
    ),
    (SOME_REF, "ROW<`y` STRING>"),
    ({"allOf": [SOME_REF]}, "ROW<`y` STRING>"),
    ({"$ref": "other.json#/$defs/z"}, "BIGINT"),
    ({"$ref": "other.json"}, "ROW<`o` BIGINT>"),
]


def json_schema(kind: Any, *, required: bool) -> RegisteredSchema:
    schema = {
        "type": "object",
        "properties": {"c": kind},
        "required": ["c"] if required else [],
        "definitions": {
            "d": {"type": "object", "properties": {"y": {"type": "string"}}},
            "loop": {"type": "object", "properties": {"l": {"$ref": "#/definitions/loop"}}},
        },
    }
    other = {
        "type": "object",
        "properties": {"o": {"$ref": "#/$defs/z"}},
        "$defs": {"z": {"type": "integer"}},
    }
    return RegisteredSchema(json.dumps(schema), {"other.json": RegisteredSchema(json.dumps(other))})


@pytest.mark.parametrize(("kind", "expected"), JSON, ids=str)
def test_json(kind: Any, expected: str) -> None:
    assert columns("json-confluent", json_schema(kind, required=False)) == {"c": expected}
    accepts_null = "null" in json.dumps(kind) and "additional" not in json.dumps(kind)
    exact = expected if accepts_null else f"{expected} NOT NULL"
    assert columns("json-confluent", json_schema(kind, required=True)) == {"c": exact}


PROTO: list[tuple[str, str]] = [
    ("int32 c = 1;", "INT NOT NULL"),
    ("optional int32 c = 1;", "INT"),
    ("uint32 c = 1;", "INT NOT NULL"),
    ("fixed64 c = 1 [deprecated = true];", "BIGINT NOT NULL"),
    ('int32 c = 1 [(x.meta) = { tags: ["PII"], params: [{ a: 1 }] }];', "INT NOT NULL"),
    ("float c = 1;", "FLOAT NOT NULL"),
    ("double c = 1;", "DOUBLE NOT NULL"),
    ("bool c = 1;", "BOOLEAN NOT NULL"),
    ("string c = 1;", "STRING NOT NULL"),
    ("bytes c = 1;", "BYTES NOT NULL"),
    ("oneof o { string c = 1; }", "STRING"),
    ("repeated int32 c = 1 [packed = false];", "ARRAY<INT>"),
    ("map<string, int64> c = 1;", "MAP<STRING, BIGINT>"),
    ("Inner c = 1;", "ROW<`x` INT NOT NULL>"),
    (".shop.M.Inner c = 1;", "ROW<`x` INT NOT NULL>"),
    ("repeated M.Inner c = 1;", "ARRAY<ROW<`x` INT NOT NULL>>"),
    ("Colour c = 1;", "STRING NOT NULL"),
    ("google.protobuf.Timestamp c = 1;", "TIMESTAMP_LTZ(6)"),
    ("google.protobuf.StringValue c = 1;", "ROW<`value` STRING NOT NULL>"),
    ("google.type.Month c = 1;", "STRING NOT NULL"),
    (
        "google.type.Interval c = 1;",
        "ROW<`start_time` TIMESTAMP_LTZ(6), `end_time` TIMESTAMP_LTZ(6)>",
    ),
    (
        "confluent.type.Decimal c = 1;",
        "ROW<`value` BYTES NOT NULL, `precision` INT NOT NULL, `scale` INT NOT NULL>",
    ),
    ("other.Thing c = 1;", "ROW<`t` STRING NOT NULL>"),
]
OTHER = RegisteredSchema('syntax = "proto3"; package other; message Thing { string t = 1; }')


def proto(field: str) -> RegisteredSchema:
    text = f"""// a comment
    syntax = "proto3";
    package shop;
    import public "other.proto";
    option java_package = "com.shop";
    message M {{
      option (my.opt) = {{ a: "}}" }};
      reserved 7 to 9, 12; /* message X {{ */
      {field}
      message Inner {{ int32 x = 1; }}
    }}
    enum Colour {{ RED = 0; option allow_alias = true; }}
    message Loop {{ Loop again = 1; }}
    service S {{ rpc Get (M) returns (M) {{ option deprecated = true; }} }}
    """
    return RegisteredSchema(text, {"other.proto": OTHER})


@pytest.mark.parametrize(("field", "expected"), PROTO)
def test_protobuf(field: str, expected: str) -> None:
    assert columns("protobuf-confluent", proto(field)) == {"c": expected}


def test_proto2_fields() -> None:
    text = "message R { required int32 a = 1; optional int32 b = 2; repeated int32 c = 3; }"
    expected = {"a": "INT NOT NULL", "b": "INT", "c": "ARRAY<INT>"}
    assert columns("protobuf-confluent", text) == expected


LOOP = {"type": "record", "name": "n", "fields": [{"name": "next", "type": ["null", "n"]}]}
FAULTS: list[tuple[str, RegisteredSchema | str, str]] = [
    ("avro-confluent", avro(["int", "string"]), "field 'c': it has a union of 2 types"),
    ("avro-confluent", avro(LOOP), "field 'c': field 'next': the type 'n' contains itself"),
    ("avro-confluent", avro("s.Lost"), "it names the type 's.Lost', which does not exist"),
    ("avro-confluent", '{"type": "record"}', "no valid Avro schema"),
    (
        "avro-confluent",
        avro(logical("bytes", "decimal", precision=64, scale=2)),
        "field 'c': a decimal with 64 digits and a scale of 2; a DECIMAL has at most 38",
    ),
    (
        "json-confluent",
        json_schema(
            {
                "type": "number",
                "title": "org.apache.kafka.connect.data.Decimal",
                "connect.parameters": {"connect.decimal.precision": "64", "scale": "2"},
            },
            required=True,
        ),
        "property 'c': a decimal with 64 digits",
    ),
    ("json-confluent", json_schema(True, required=True), "property 'c': it accepts any value"),
    ("json-confluent", json_schema({}, required=True), "it has no 'type'"),
    (
        "json-confluent",
        json_schema({"oneOf": [{"type": "string"}, {"type": "integer"}]}, required=True),
        "oneOf has 2 types besides null",
    ),
    (
        "json-confluent",
        json_schema({"$ref": "#/definitions/loop"}, required=True),
        "'#/definitions/loop' contains itself",
    ),
    ("json-confluent", json_schema({"$ref": "#"}, required=True), "'#' contains itself"),
    ("json-confluent", json_schema({"$ref": "x.json"}, required=True), "does not exist"),
    ("json-confluent", json_schema({"type": "array"}, required=True), "need one type in 'items'"),
    ("json-confluent", json_schema({"type": "object"}, required=True), "needs 'properties'"),
    ("protobuf-confluent", proto("Loop c = 1;"), "field 'again': message 'shop.Loop' contains"),
    ("protobuf-confluent", proto("Lost c = 1;"), "field 'c': the type 'Lost' is not in the schema"),
    ("protobuf-confluent", proto("group G = 1 { int32 x = 2; }"), "it has a group"),
    ("protobuf-confluent", 'edition = "2023"; message M { int32 a = 1; }', "an edition"),
    ("protobuf-confluent", "message M { int32 a = 1;", "the text ends too early"),
    ("protobuf-confluent", 'syntax = "proto3";', "it has no message"),
]


@pytest.mark.parametrize(("format_", "schema", "reason"), FAULTS)
def test_schemas_without_columns(format_: str, schema: RegisteredSchema | str, reason: str) -> None:
    with pytest.raises(ValueError, match=re.escape(reason)):
        columns(format_, schema)


@pytest.mark.parametrize(
    ("format_", "schema"),
    [("avro-confluent", '"string"'), ("json-confluent", '{"type": "string"}')],
)
def test_a_single_value_is_no_record(format_: str, schema: str) -> None:
    with pytest.raises(NotARecordError):
        columns(format_, schema)
