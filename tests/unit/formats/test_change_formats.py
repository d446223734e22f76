"""Formats of change events: their options, codecs, keys and refusals."""

from __future__ import annotations

import json

import pytest

from streamtable.connector_api.format import ChangelogFormat
from streamtable.core import types as t
from streamtable.core.changelog import RETRACT
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.options import Given, Settings
from streamtable.core.types import Field
from streamtable.formats.registry import FORMATS

CHANGES = ("debezium-json", "canal-json", "maxwell-json", "ogg-json")
COLUMNS = (Field("id", t.BIGINT.with_nullable(False)), Field("name", t.STRING))
FLINK_OPTIONS = {
    "ignore-parse-errors",
    "timestamp-format.standard",
    "map-null-key.mode",
    "map-null-key.literal",
    "encode.decimal-as-plain-number",
    "encode.ignore-null-fields",
}
#: Further options of each format, both Flink's and ours.
MORE = {
    "debezium-json": {"schema-include", "schema-name"},
    "canal-json": {"database.include", "table.include"},
    "maxwell-json": {"database", "table"},
    "ogg-json": set(),
}


def changes(name: str) -> ChangelogFormat:
    found = FORMATS[name]
    assert isinstance(found, ChangelogFormat)
    return found


def read(name: str, given: dict[str, str]) -> Settings:
    return FORMATS[name].options.read({k: Given(v) for k, v in given.items()}, "t")


@pytest.mark.parametrize("name", CHANGES)
def test_options_are_those_of_flink_plus_extensions(name: str) -> None:
    assert set(changes(name).options.keys()) == FLINK_OPTIONS | MORE[name]
    assert changes(name).mode == RETRACT


@pytest.mark.parametrize("name", ("json", "avro"))
def test_json_and_avro_are_not_changelog_formats(name: str) -> None:
    assert not isinstance(FORMATS[name], ChangelogFormat)


@pytest.mark.parametrize("name", CHANGES)
def test_a_value_reads_columns_and_metadata(name: str) -> None:
    found = changes(name)
    keys = tuple(field.name for field in found.metadata)
    codec = found.change_decoder(COLUMNS, keys, read(name, {"ignore-parse-errors": "true"}))
    assert codec.fields == COLUMNS
    assert codec.parameters["metadata"].split() == list(keys)
    assert codec.parameters["ignoreParseErrors"] == "true"
    assert found.skips_errors(read(name, {"ignore-parse-errors": "true"}))
    assert not found.skips_errors(read(name, {}))


@pytest.mark.parametrize("name", CHANGES)
def test_the_encoder_uses_the_style_of_the_format(name: str) -> None:
    settings = read(
        name,
        {"encode.ignore-null-fields": "true", "map-null-key.mode": "DROP"},
    )
    parameters = changes(name).change_encoder(COLUMNS, settings).parameters
    assert parameters["style"] == name.removesuffix("-json")
    assert (parameters["ignoreNullFields"], parameters["mapNullKeys"]) == ("true", "DROP")


@pytest.mark.parametrize("name", CHANGES)
def test_columns_that_json_cannot_hold(name: str) -> None:
    columns = (Field("m", t.map_of(t.INT, t.INT)),)
    for make in (
        lambda: changes(name).change_decoder(columns, (), read(name, {})),
        lambda: changes(name).change_encoder(columns, read(name, {})),
    ):
        with pytest.raises(StreamtableError, match="json supports only string keys"):
            make()


def test_canal_filters_are_passed_to_the_decoder() -> None:
    settings = read("canal-json", {"database.include": "shop", "table.include": r"o_\p{Alpha}+"})
    parameters = changes("canal-json").change_decoder(COLUMNS, (), settings).parameters
    assert parameters["databaseInclude"] == "shop"
    assert parameters["tableInclude"] == r"o_\p{Alpha}+"


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("canal-json", {"table.include": "orders("}),
        ("debezium-json", {"schema-include": "yes"}),
        ("maxwell-json", {"timestamp-format.standard": "RFC"}),
    ],
)
def test_values_that_are_refused(name: str, given: dict[str, str]) -> None:
    with pytest.raises(StreamtableError) as refused:
        read(name, given)
    assert refused.value.condition is Condition.INVALID_OPTION


def test_writing_debezium_events_with_a_schema_is_refused() -> None:
    with pytest.raises(StreamtableError) as refused:
        changes("debezium-json").change_encoder(
            COLUMNS, read("debezium-json", {"schema-include": "true"})
        )
    assert refused.value.condition is Condition.OPTION_NOT_SETTABLE


AVRO = "debezium-avro-confluent"
_ROW = {
    "type": "record",
    "name": "Value",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "name", "type": ["null", "string"], "default": None},
    ],
}
_BEFORE = {"name": "before", "type": ["null", _ROW]}
_AFTER = {"name": "after", "type": ["null", "Value"]}
_OP = {"name": "op", "type": "string"}
_TIME = {"name": "ts_ms", "type": "long"}


def _avro(*fields: dict[str, object]) -> Settings:
    schema = json.dumps({"type": "record", "name": "Envelope", "fields": fields})
    return read(AVRO, {"url": "http://a", "subject": "s", "schema": schema})


def test_an_avro_event_is_nullable_as_in_flink() -> None:
    codec = changes(AVRO).change_decoder(COLUMNS, (), read(AVRO, {"url": "http://a"}))
    null, event = json.loads(codec.parameters["schema"])
    assert null == "null"
    assert [part["name"] for part in event["fields"]] == ["before", "after", "op"]


def test_unused_fields_of_an_avro_event_are_not_read() -> None:
    codec = changes(AVRO).change_decoder(COLUMNS, (), _avro(_BEFORE, _TIME, _AFTER, _OP))
    fields = json.loads(codec.parameters["schema"])["fields"]
    assert [part["name"] for part in fields] == ["before", "after", "op"]


@pytest.mark.parametrize("fields", [["x"], [{"name": []}], [{"type": "int"}], {}, None])
def test_avro_schemas_without_proper_fields(fields: object) -> None:
    schema = json.dumps({"type": "record", "name": "E", "fields": fields})
    settings = read(AVRO, {"url": "http://a", "subject": "s", "schema": schema})
    with pytest.raises(StreamtableError) as no:
        changes(AVRO).change_decoder(COLUMNS, (), settings)
    assert no.value.condition is Condition.INVALID_OPTION


@pytest.mark.parametrize(
    ("fields", "written"),
    [
        ((_BEFORE, _AFTER), False),
        ((_BEFORE, _AFTER, _TIME), False),
        (({"name": "before", "type": _ROW}, _AFTER, _OP), False),
        ((_BEFORE, {"name": "after", "type": ["null", "string"]}, _OP), False),
        ((_BEFORE, _AFTER, {"name": "op", "type": "int"}), False),
        ((_BEFORE, _AFTER, _OP, _TIME), True),
        ((_OP, _BEFORE, _AFTER), True),
    ],
)
def test_avro_schemas_of_other_events(fields: tuple[dict[str, object], ...], written: bool) -> None:
    settings, found = _avro(*fields), changes(AVRO)
    with pytest.raises(StreamtableError, match="a schema of events with before, after, op") as no:
        if written:
            found.change_encoder(COLUMNS, settings)
        else:
            found.change_decoder(COLUMNS, (), settings)
    assert no.value.condition is Condition.INVALID_OPTION


def test_debezium_keys() -> None:
    plain = FORMATS["debezium-json"].encoder(COLUMNS, read("debezium-json", {}))
    assert "opening" not in plain.parameters
    given = {"schema-include": "true", "schema-name": "shop.orders.Key"}
    settings = read("debezium-json", given)
    framed = FORMATS["debezium-json"].encoder(COLUMNS, settings).parameters
    assert framed["opening"] == (
        '{"schema":{"type":"struct","fields":['
        '{"type":"int64","optional":false,"field":"id"},'
        '{"type":"string","optional":true,"field":"name"}],'
        '"optional":false,"name":"shop.orders.Key"},"payload":{'
    )
    assert framed["closing"] == "}"
    assert FORMATS["debezium-json"].decoder(COLUMNS, settings).parameters["payload"] == "true"


def test_a_debezium_key_with_its_schema_has_no_decimals() -> None:
    columns = (Field("d", t.decimal(10, 2)),)
    FORMATS["debezium-json"].encoder(columns, read("debezium-json", {}))
    with pytest.raises(StreamtableError) as refused:
        FORMATS["debezium-json"].encoder(columns, read("debezium-json", {"schema-include": "true"}))
    assert refused.value.condition is Condition.UNSUPPORTED_TYPE


def test_maxwell_keys() -> None:
    found = FORMATS["maxwell-json"]
    assert [f.name for f in found.decoder(COLUMNS, read("maxwell-json", {})).fields] == [
        "pk.id",
        "pk.name",
    ]
    codec = found.encoder(COLUMNS, read("maxwell-json", {"database": "shop", "table": "o"}))
    assert codec.parameters["opening"] == '{"database":"shop","table":"o",'
    with pytest.raises(StreamtableError) as refused:
        found.encoder(COLUMNS, read("maxwell-json", {"database": "shop"}))
    assert refused.value.condition is Condition.MISSING_OPTION
    assert "key.maxwell-json.table" in str(refused.value)
