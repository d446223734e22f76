"""Avro schemas are those that Flink 2.2's converter derives from the same columns."""

import fastavro
import pytest

from streamtable.core import types as t
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.types import Field
from streamtable.formats.avro.schema import avro_schema

KEY = t.STRING.with_nullable(False)


def field_type(column_type, **options):
    return avro_schema((Field("c", column_type.with_nullable(False)),), **options)["fields"][0][
        "type"
    ]


@pytest.mark.parametrize(
    ("column_type", "expected"),
    [
        (t.BOOLEAN, "boolean"),
        (t.TINYINT, "int"),
        (t.SMALLINT, "int"),
        (t.INT, "int"),
        (t.BIGINT, "long"),
        (t.FLOAT, "float"),
        (t.DOUBLE, "double"),
        (t.STRING, "string"),
        (t.char(3), "string"),
        (t.BYTES, "bytes"),
        (t.DATE, {"type": "int", "logicalType": "date"}),
        (t.time(3), {"type": "int", "logicalType": "time-millis"}),
        (t.timestamp(0), {"type": "long", "logicalType": "timestamp-millis"}),
        (t.timestamp(3), {"type": "long", "logicalType": "timestamp-millis"}),
        (
            t.decimal(10, 2),
            {"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2},
        ),
        (t.array(t.INT), {"type": "array", "items": ["null", "int"]}),
        (t.map_of(KEY, t.BIGINT), {"type": "map", "values": ["null", "long"]}),
        (t.multiset(KEY), {"type": "map", "values": ["null", "int"]}),
        (t.NULL, "null"),
    ],
    ids=str,
)
def test_types(column_type, expected):
    assert field_type(column_type) == expected


@pytest.mark.parametrize(
    ("column_type", "expected"),
    [
        (t.timestamp(3), "local-timestamp-millis"),
        (t.timestamp(6), "local-timestamp-micros"),
        (t.timestamp_ltz(3), "timestamp-millis"),
        (t.timestamp_ltz(6), "timestamp-micros"),
    ],
    ids=str,
)
def test_timestamps_without_the_legacy_mapping(column_type, expected):
    found = field_type(column_type, legacy_timestamps=False)
    assert found == {"type": "long", "logicalType": expected}


def test_records_have_the_names_of_flink():
    inner = t.row(Field("zip", t.INT), Field("deep", t.row(Field("x", t.INT))))
    schema = avro_schema((Field("id", t.BIGINT.with_nullable(False)), Field("address", inner)))
    assert schema["name"] == "record"
    assert schema["namespace"] == "org.apache.flink.avro.generated"
    assert schema["fields"][0] == {"name": "id", "type": "long"}
    address = schema["fields"][1]
    assert address["default"] is None
    null, record = address["type"]
    assert (null, record["name"]) == ("null", "record_address")
    assert record["fields"][1]["type"][1]["name"] == "record_address_deep"
    fastavro.parse_schema(schema)


@pytest.mark.parametrize(
    ("column_type", "column", "reason"),
    [
        (t.timestamp(6), "c", "three fractional digits"),
        (t.timestamp_ltz(3), "c", "does not support this type"),
        (t.time(6), "c", "three fractional digits"),
        (t.map_of(t.INT, t.INT), "c", "string keys"),
        (t.INTERVAL_DAY_TIME, "c", "does not support this type"),
        (t.row(Field("a-b", t.INT)), "c.a-b", "letters"),
        (t.array(t.row(Field("x", t.time(6)))), "c.x", "three fractional digits"),
    ],
    ids=str,
)
def test_unsupported_avro_types(column_type, column, reason):
    with pytest.raises(StreamtableError) as caught:
        avro_schema((Field("c", column_type),))
    assert caught.value.condition is Condition.UNSUPPORTED_TYPE
    assert f"column '{column}'" in str(caught.value)
    assert reason in str(caught.value)


def test_duplicate_record_names_are_refused():
    # c.a and c_a would both be named record_c_a, and Avro accepts a name only once.
    part = t.row(Field("x", t.INT))
    with pytest.raises(StreamtableError, match="would be named 'record_c_a'"):
        avro_schema((Field("c", t.row(Field("a", part))), Field("c_a", part)))
