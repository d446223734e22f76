"""Read whole records through Spark: row kinds, positions, skipped records, counters, errors."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import StructType

from streamtable.core import types as t
from streamtable.core.codec import Codec
from streamtable.core.types import Field, spark_ddl
from streamtable.jvm.bridge import Bridge
from streamtable.jvm.specs.reader import ReaderSpec
from streamtable.jvm.streaming.counters import COUNTED_IN

RECORD = "key BINARY, value BINARY, topic STRING, partition INT, offset BIGINT"
COLUMNS = (Field("id", t.BIGINT), Field("name", t.STRING), Field("extra", t.STRING))
FLAGS = {"ignoreParseErrors": "true"}


def spec(*, upsert: bool, skips: bool = False, both: bool = False) -> ReaderSpec:
    """Return a spec with `id` in the key (if `both`, also in the value), the rest in the value."""
    flags = FLAGS if skips else {}
    in_value = COLUMNS if both else COLUMNS[1:]
    return ReaderSpec(
        key=Codec("json.JsonDecoder", COLUMNS[:1], flags),
        value=Codec("json.JsonDecoder", in_value, flags),
        key_positions=(0, -1, -1),
        value_positions=(0, 1, 2) if both else (-1, 0, 1),
        upsert=upsert,
        skip_key_errors=skips,
        skip_value_errors=skips,
        output_ddl=f"`__row_kind` TINYINT, {spark_ddl(COLUMNS)}",
    )


def read(spark: Any, found: ReaderSpec, *records: tuple[bytes | None, bytes | None]) -> Any:
    """Return the rows, and the counters that are not zero."""
    rows = [
        (
            None if key is None else bytearray(key),
            None if value is None else bytearray(value),
            "pv",
            1,
            40 + at,
        )
        for at, (key, value) in enumerate(records)
    ]
    frame = spark.createDataFrame(rows, StructType.fromDDL(RECORD)).coalesce(1)
    bridge = Bridge(spark)
    counters = bridge.counters(COUNTED_IN)
    out = frame.select(bridge.read(found, counters).alias("row")).where(F.col("row").isNotNull())
    rows = [tuple(row.row) for row in out.collect()]
    return rows, {name: count for name, count in counters.values().items() if count}


def test_appends(spark):
    rows, counts = read(
        spark,
        spec(upsert=False),
        (b'{"id":1}', b'{"name":"a"}'),
        (b'{"id":1}', None),
        (None, b'{"name":"b"}'),
        (b'{"id":2}', b""),
    )
    assert rows == [(0, 1, "a", None)]
    assert counts == {"tombstones": 1, "nullKeys": 1, "emptyRecords": 1}


@pytest.mark.parametrize("upsert", [False, True], ids=["append", "upsert"])
def test_a_null_in_raw(spark, upsert):
    """The raw format reads null as NULL, as in Flink, except in an upsert table.

    An upsert table counts a null key and reads a null value as a delete.
    """
    charset = {"charset": "UTF-8", "littleEndian": "false"}
    key = replace(spec(upsert=upsert), key=Codec("raw.RawDecoder", COLUMNS[:1], charset))
    rows, counts = read(spark, key, (None, b'{"name":"b"}'), (None, None))
    assert rows == ([] if upsert else [(0, None, "b", None)])
    assert counts == ({"nullKeys": 2} if upsert else {"tombstones": 1})
    value = Codec("raw.RawDecoder", COLUMNS[1:2], charset)
    found = replace(spec(upsert=upsert), value=value, value_positions=(-1, 0, -1))
    rows, counts = read(spark, found, (b'{"id":1}', b"b"), (b'{"id":1}', None), (None, None))
    expected = [(2, 1, "b", None), (3, 1, None, None)]
    assert rows == (expected if upsert else [(0, 1, "b", None), (0, 1, None, None)])
    assert counts == {"nullKeys": 1}


def test_upserts(spark):
    rows, counts = read(
        spark,
        spec(upsert=True),
        (b'{"id":1}', b'{"name":"a","extra":"x"}'),
        (b'{"id":1}', None),
        (None, b'{"name":"b"}'),
        (None, None),
        (b"", b'{"name":"b"}'),
    )
    assert rows == [(2, 1, "a", "x"), (3, 1, None, None)]
    assert counts == {"nullKeys": 2, "emptyRecords": 1}


def test_value_columns_override_key_columns(spark):
    rows, _ = read(
        spark, spec(upsert=True, both=True), (b'{"id":1}', b'{"id":7}'), (b'{"id":1}', None)
    )
    assert rows == [(2, 7, None, None), (3, 1, None, None)]


def test_skipped_records_are_counted(spark):
    good = (b'{"id":1}', b'{"name":"a"}')
    rows, counts = read(
        spark,
        spec(upsert=True, skips=True),
        good,
        (b"nonsense", b'{"name":"b"}'),
        (b'{"id":2}', b'{"name":'),
        (b'{"id":"x"}', b'{"name":"c"}'),
    )
    assert rows == [(2, 1, "a", None), (2, None, "c", None)]
    assert counts == {"parseErrors": 2, "fieldErrors": 1}


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        (
            b'{"id":"x"}',
            b"{}",
            "topic 'pv' partition 1 offset 40: key is not valid json: field 'id': 'x' is not",
        ),
        (b"{}", b"[]", "value is not valid json: expected an object, found an array"),
        (b"{}", b"  ", "value is not valid json: there is nothing but blanks"),
        (b"{}", b'{"name":"\xff"}', "value is not valid json: Invalid UTF-8"),
        (b"{}", b"\0\0\0{{{{{", "value is not valid json: Invalid UTF-32 character"),
        (b"{}", b'{"name":"a', "value is not valid json: Unexpected end-of-input"),
        (b'{"id":"' + b"9" * 5_000 + b'"}', b"{}", "'" + "9" * 100 + "...' is not a valid BIGINT"),
    ],
    ids=["field", "shape", "blanks", "utf-8", "utf-32", "truncated", "long"],
)
def test_a_record_that_ends_the_job(spark, key, value, expected):
    with pytest.raises(Py4JJavaError) as caught:
        read(spark, spec(upsert=True), (key, value))
    line = next(line for line in str(caught.value).splitlines() if "RECORD_UNREADABLE" in line)
    message = line[line.index("RECORD_UNREADABLE") :]
    assert expected in message
    assert len(message) <= 400


def test_five_megabytes(spark):
    text = "x" * 5_000_000
    rows, _ = read(spark, spec(upsert=True), (b'{"id":1}', json.dumps({"name": text}).encode()))
    assert rows[0][2] == text


def test_encode_keeps_null_structs_null(spark):
    frame = spark.createDataFrame([(1, "a"), (None, "b")], "id BIGINT, name STRING")
    struct = F.when(F.col("id").isNotNull(), F.struct("id", "name"))
    codec = Codec("json.JsonEncoder", COLUMNS[:2])
    rows = frame.select(Bridge(spark).encode(codec, struct).alias("bytes")).collect()
    assert [row.bytes and bytes(row.bytes) for row in rows] == [b'{"id":1,"name":"a"}', None]
