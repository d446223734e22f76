"""Encode maps with a null key. Decoders never make such a key, but operators may."""

from __future__ import annotations

from typing import Any

import pytest
from py4j.protocol import Py4JJavaError

from streamtable.core import types as t
from streamtable.core.types import Field

COLUMNS = (Field("m", t.map_of(t.STRING, t.INT)),)


@pytest.fixture
def row(spark: Any) -> Any:
    """Return a row of the map {null: 1, "b": 2, "none": 3}."""
    context = spark.sparkContext
    catalyst = spark._jvm.org.apache.spark.sql.catalyst
    text = spark._jvm.org.apache.spark.unsafe.types.UTF8String.fromString

    def array(*values: Any) -> Any:
        out = context._gateway.new_array(spark._jvm.java.lang.Object, len(values))
        for at, value in enumerate(values):
            out[at] = value
        return out

    keys = catalyst.util.GenericArrayData(array(None, text("b"), text("none")))
    values = catalyst.util.GenericArrayData(array(1, 2, 3))
    found = catalyst.util.ArrayBasedMapData(keys, values)
    return catalyst.expressions.GenericInternalRow(array(found))


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"map-null-key.mode": "DROP"}, b'{"m":{"b":2,"none":3}}'),
        ({"map-null-key.mode": "LITERAL"}, b'{"m":{"null":1,"b":2,"none":3}}'),
        (
            {"map-null-key.mode": "LITERAL", "map-null-key.literal": "x"},
            b'{"m":{"x":1,"b":2,"none":3}}',
        ),
        (
            {"map-null-key.mode": "LITERAL", "map-null-key.literal": "none"},
            b'{"m":{"none":3,"b":2}}',
        ),
    ],
    ids=["drop", "default literal", "literal", "literal that is there"],
)
def test_json(codecs: Any, row: Any, options: dict[str, str], expected: bytes) -> None:
    assert bytes(codecs.encoder("json", COLUMNS, options).encode(row)) == expected


def test_json_fails_by_default(codecs: Any, row: Any) -> None:
    with pytest.raises(Py4JJavaError, match=r"RECORD_UNWRITABLE.*'map-null-key\.mode'"):
        codecs.encoder("json", COLUMNS, {}).encode(row)


def test_avro_fails(codecs: Any, row: Any) -> None:
    with pytest.raises(Py4JJavaError, match=r"RECORD_UNWRITABLE a map in column 'm'"):
        codecs.encoder("avro", COLUMNS, {}).encode(row)
