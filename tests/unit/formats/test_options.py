"""Format options: the codecs that they configure, and the values that they refuse."""

import json

import pytest

from streamtable.core import types as t
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.options import Given
from streamtable.core.types import Field
from streamtable.formats.registry import FORMATS, NOT_YET, find_format

COLUMNS = (Field("id", t.BIGINT.with_nullable(False)), Field("name", t.STRING))


def settings(name, **options):
    given = {key.replace("__", "."): Given(value) for key, value in options.items()}
    given = {key.replace("_", "-"): value for key, value in given.items()}
    return FORMATS[name].options.read(given, "t")


def refused(name, given):
    with pytest.raises(StreamtableError) as caught:
        FORMATS[name].options.read({key: Given(text) for key, text in given.items()}, "t")
    return caught.value


def test_json_defaults():
    found = FORMATS["json"]
    chosen = settings("json")
    decoder = found.decoder(COLUMNS, chosen)
    assert decoder.java_class == "json.JsonDecoder"
    assert decoder.schema_ddl == "`id` BIGINT, `name` STRING"
    assert decoder.parameters == {
        "failOnMissingField": "false",
        "ignoreParseErrors": "false",
        "isoTimestamps": "false",
    }
    assert found.encoder(COLUMNS, chosen).parameters == {
        "ignoreNullFields": "false",
        "plainDecimals": "false",
        "isoTimestamps": "false",
        "mapNullKeys": "FAIL",
        "mapNullKeyLiteral": "null",
    }
    assert not found.skips_errors(chosen)


def test_json_with_all_options():
    chosen = settings(
        "json",
        ignore_parse_errors="true",
        timestamp_format__standard="ISO-8601",
        map_null_key__mode="literal",
        map_null_key__literal="none",
        encode__decimal_as_plain_number="true",
        encode__ignore_null_fields="true",
        decode__json_parser__enabled="false",
    )
    found = FORMATS["json"]
    assert found.skips_errors(chosen)
    assert found.decoder(COLUMNS, chosen).parameters["isoTimestamps"] == "true"
    encoder = found.encoder(COLUMNS, chosen).parameters
    assert (encoder["mapNullKeys"], encoder["mapNullKeyLiteral"]) == ("LITERAL", "none")
    assert (encoder["plainDecimals"], encoder["ignoreNullFields"]) == ("true", "true")


@pytest.mark.parametrize(
    ("name", "given", "condition"),
    [
        ("json", {"timestamp-format.standard": "RFC"}, Condition.INVALID_OPTION),
        ("json", {"map-null-key.mode": "skip"}, Condition.INVALID_OPTION),
        ("json", {"ignore-parse-error": "true"}, Condition.UNKNOWN_OPTION),
        (
            "json",
            {"fail-on-missing-field": "true", "ignore-parse-errors": "true"},
            Condition.OPTION_CONFLICT,
        ),
        ("avro", {"encoding": "text"}, Condition.INVALID_OPTION),
    ],
    ids=str,
)
def test_refused(name, given, condition):
    assert refused(name, given).condition is condition


def test_a_misspelt_option_has_a_hint():
    assert "'ignore-parse-errors'?" in str(refused("json", {"ignore-parse-error": "true"}))


def test_json_has_text_keys_only():
    columns = (Field("r", t.row(Field("m", t.map_of(t.INT, t.INT)))),)
    with pytest.raises(StreamtableError, match=r"column 'r\.m': json supports only string keys"):
        FORMATS["json"].decoder(columns, settings("json"))


def test_avro_carries_its_schema():
    codec = FORMATS["avro"].encoder(COLUMNS, settings("avro"))
    assert codec.java_class == "avro.AvroEncoder"
    schema = json.loads(codec.parameters["schema"])
    assert [field["name"] for field in schema["fields"]] == ["id", "name"]


def test_avro_timestamps_follow_the_option():
    columns = (Field("at", t.timestamp_ltz(3)),)
    with pytest.raises(StreamtableError, match=r"'timestamp_mapping\.legacy' = 'false'"):
        FORMATS["avro"].decoder(columns, settings("avro"))
    given = {"timestamp_mapping.legacy": Given("false")}
    chosen = FORMATS["avro"].options.read(given, "t")
    assert "timestamp-millis" in FORMATS["avro"].decoder(columns, chosen).parameters["schema"]


@pytest.mark.parametrize("name", NOT_YET)
def test_formats_not_supported_yet(name):
    with pytest.raises(StreamtableError) as caught:
        find_format(name, "t")
    assert caught.value.condition is Condition.NOT_YET


def test_find_format():
    assert find_format("json", "t") is FORMATS["json"]
    with pytest.raises(StreamtableError) as caught:
        find_format("jsn", "t")
    assert caught.value.condition is Condition.UNKNOWN_FORMAT
    assert "did you mean 'json'?" in str(caught.value)
