"""Options of csv, raw, avro-confluent and json-confluent: their codecs and refused values."""

from __future__ import annotations

import json

import pytest

from streamtable.core import types as t
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.options import Given
from streamtable.core.types import Field
from streamtable.formats.registry import FORMATS

COLUMNS = (Field("id", t.BIGINT.with_nullable(False)), Field("name", t.STRING))
URL = {"url": "http://user:geheim@host:8081/api"}


def settings(name, given):
    return FORMATS[name].options.read({key: Given(text) for key, text in given.items()}, "t")


def codec(name, kind="decoder", columns=COLUMNS, **given):
    return getattr(FORMATS[name], kind)(columns, settings(name, given.pop("given", given)))


def test_csv_defaults():
    found = codec("csv")
    assert found.java_class == "csv.CsvDecoder"
    assert found.parameters == {
        "delimiter": ",",
        "quote": '"',
        "escape": "",
        "arrayDelimiter": ";",
        "comments": "false",
        "ignoreErrors": "false",
        "scientific": "false",
    }
    assert not FORMATS["csv"].skips_errors(settings("csv", {}))
    assert FORMATS["csv"].skips_errors(settings("csv", {"ignore-parse-errors": "true"}))


def test_csv_with_all_options():
    given = {
        "field-delimiter": "\\t",
        "disable-quote-character": "true",
        "allow-comments": "true",
        "array-element-delimiter": "|",
        "escape-character": "\\",
        "null-literal": "",
        "write-bigdecimal-in-scientific-notation": "true",
    }
    assert codec("csv", "encoder", given=given).parameters == {
        "delimiter": "\t",
        "quote": "",
        "escape": "\\",
        "arrayDelimiter": "|",
        "nullLiteral": "",
        "comments": "true",
        "ignoreErrors": "false",
        "scientific": "true",
    }


@pytest.mark.parametrize(
    ("text", "meant"),
    [("\\u0001", "\x01"), ("\\uu00a7", "\u00a7"), ("\\\\", "\\"), ("\\", "\\"), ("\\7", "\x07")],
)
def test_csv_delimiter_spelled_as_in_java(text, meant):
    assert codec("csv", given={"field-delimiter": text}).parameters["delimiter"] == meant


@pytest.mark.parametrize(
    ("name", "given", "condition"),
    [
        ("csv", {"field-delimiter": ";;"}, Condition.INVALID_OPTION),
        ("csv", {"field-delimiter": ""}, Condition.INVALID_OPTION),
        ("csv", {"quote-character": "''"}, Condition.INVALID_OPTION),
        ("csv", {"escape-character": "\U0001f600"}, Condition.INVALID_OPTION),
        (
            "csv",
            {"quote-character": "'", "disable-quote-character": "true"},
            Condition.OPTION_CONFLICT,
        ),
        ("raw", {"charset": "nothing"}, Condition.INVALID_OPTION),
        ("raw", {"endianness": "middle"}, Condition.INVALID_OPTION),
        ("avro-confluent", {}, Condition.MISSING_OPTION),
        ("avro-confluent", {"url": "localhost:8081"}, Condition.INVALID_OPTION),
    ],
    ids=str,
)
def test_refused(name, given, condition):
    with pytest.raises(StreamtableError) as caught:
        settings(name, given)
    assert caught.value.condition is condition
    assert "geheim" not in str(caught.value)


def test_a_wrong_url_shows_no_password():
    with pytest.raises(StreamtableError, match=r"ftp://\*\*\*\*@host"):
        settings("avro-confluent", {"url": "ftp://user:geheim@host"})


@pytest.mark.parametrize(
    "column",
    [
        t.map_of(t.STRING, t.STRING),
        t.time(4),
        t.array(t.array(t.INT)),
        t.row(Field("a", t.array(t.INT))),
        t.INTERVAL_DAY_TIME,
        t.multiset(t.STRING),
    ],
    ids=str,
)
def test_unsupported_csv_types(column):
    with pytest.raises(StreamtableError) as caught:
        codec("csv", columns=(Field("c", column),))
    assert caught.value.condition is Condition.UNSUPPORTED_TYPE
    assert "column 'c" in str(caught.value)


@pytest.mark.parametrize("column", [t.DATE, t.decimal(10, 2), t.array(t.INT), t.time(0)], ids=str)
def test_unsupported_raw_types(column):
    with pytest.raises(StreamtableError, match="UNSUPPORTED_TYPE"):
        codec("raw", columns=(Field("c", column),))


@pytest.mark.parametrize("columns", [(), COLUMNS], ids=["none", "two"])
def test_raw_has_one_column(columns):
    with pytest.raises(StreamtableError, match="exactly one column"):
        codec("raw", columns=columns)


def test_secrets_are_kept_out_of_parameters_and_repr():
    given = {
        **URL,
        "basic-auth.credentials-source": "USER_INFO",
        "basic-auth.user-info": "a:geheim",
        "ssl.truststore.location": "/store",
        "ssl.truststore.password": "geheim",
        "properties.http.read.timeout.ms": "500",
        "subject": "s",
    }
    found = codec("avro-confluent", "encoder", given=given)
    assert found.secrets == {key: text for key, text in given.items() if key != "subject"}
    assert found.parameters.keys() == {"schema", "subject"}
    assert "geheim" not in repr(found)


@pytest.mark.parametrize("format_", ["avro-confluent", "json-confluent"])
def test_a_sink_needs_a_subject(format_):
    with pytest.raises(StreamtableError, match="'subject'"):
        codec(format_, "encoder", given=URL)


def test_a_json_schema_of_the_columns():
    found = codec("json-confluent", "encoder", given={**URL, "subject": "s"})
    assert found.registers
    assert found.secrets == {f"registry.{key}": text for key, text in URL.items()}
    schema = json.loads(found.parameters["schema"])
    assert schema["properties"].keys() == {field.name for field in COLUMNS}
    assert schema["additionalProperties"] is False


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ("{", "a JSON schema with 'properties'"),
        ("[]", "a JSON schema with 'properties'"),
        ('{"type": "object"}', "a JSON schema with 'properties'"),
        ('{"properties": {"x": {}}}', "a JSON schema with the property"),
    ],
)
def test_an_invalid_json_schema_is_refused(schema, expected):
    with pytest.raises(StreamtableError, match=expected):
        codec("json-confluent", "encoder", given={**URL, "subject": "s", "schema": schema})


def fields(*pairs):
    return json.dumps(
        {
            "type": "record",
            "name": "r",
            "fields": [{"name": name, "type": kind} for name, kind in pairs],
        }
    )


GOOD = fields(("id", "long"), ("name", ["string", "null"]))


def test_a_matching_schema_is_used():
    found = codec("avro-confluent", given={**URL, "schema": GOOD})
    assert found.parameters["schema"] == GOOD


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ("{", "an Avro schema of a record"),
        ('"long"', "it is not a record"),
        ('{"type":"record","name":"r"}', "KeyError 'fields'"),
        (fields(("id", "lon")), "it names the type 'lon'"),
        (fields(("id", ["long", "string"])), "a union of 2 types"),
        (fields(("id", "long")), "id BIGINT NOT NULL, name STRING, but one of id BIGINT NOT NULL"),
        (fields(("id", "int"), ("name", ["null", "string"])), "but one of id INT NOT NULL"),
        (fields(("name", ["null", "string"]), ("id", "long")), "but one of name STRING"),
        (fields(("id", "long"), ("name", "string")), "name STRING NOT NULL"),
    ],
    ids=str,
)
def test_an_invalid_or_different_schema_is_refused(schema, said):
    with pytest.raises(StreamtableError) as caught:
        codec("avro-confluent", given={**URL, "schema": schema})
    assert caught.value.condition is Condition.INVALID_OPTION
    assert said in str(caught.value)


def test_types_of_a_schema():
    kinds = [
        ({"type": "int", "logicalType": "date"}, t.DATE),
        ({"type": "int", "logicalType": "time-millis"}, t.time(3)),
        ({"type": "long", "logicalType": "timestamp-millis"}, t.timestamp(3)),
        ({"type": "long", "logicalType": "timestamp-micros"}, t.timestamp(6)),
        ({"type": "long", "logicalType": "local-timestamp-millis"}, t.BIGINT),
        ({"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}, t.decimal(9, 2)),
        ({"type": "enum", "name": "E", "symbols": ["a"]}, t.STRING),
        ("E", t.STRING),
        ({"type": "array", "items": ["null", "int"]}, t.array(t.INT)),
        ({"type": "map", "values": "int"}, t.map_of(NOT_NULL, t.INT.with_nullable(False))),
    ]
    columns = tuple(Field(f"c{i}", kind.with_nullable(False)) for i, (_, kind) in enumerate(kinds))
    schema = fields(*((f"c{i}", avro) for i, (avro, _) in enumerate(kinds)))
    codec("avro-confluent", columns=columns, given={**URL, "schema": schema})


NOT_NULL = t.STRING.with_nullable(False)
