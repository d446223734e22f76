"""Read records of change events through Spark: rows, changed keys, counters."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pyspark.sql.types import StructType

from streamtable.core import types as t
from streamtable.core.options import Given
from streamtable.core.types import Field, spark_ddl
from streamtable.formats.registry import FORMATS
from streamtable.jvm.bridge import Bridge
from streamtable.jvm.specs.reader import ChangesSpec, ReaderSpec
from streamtable.jvm.streaming.counters import COUNTED_IN

RECORD = "key BINARY, value BINARY, topic STRING, partition INT, offset BIGINT"
COLUMNS = (
    Field("id", t.BIGINT),
    Field("name", t.STRING),
    Field("at", t.timestamp(3)),
    Field("r", t.row(Field("d", t.decimal(10, 2)), Field("l", t.array(t.INT)))),
)
ROW = {"id": 1, "name": "a", "at": "2024-01-02 03:04:05.6", "r": {"d": 1.5, "l": [1, 2]}}
EVENTS = {
    "debezium-json": [
        {"before": None, "after": ROW, "op": "c", "ts_ms": 1},
        {"before": ROW, "after": ROW | {"name": "b"}, "op": "u", "source": {"db": "x"}},
        {"before": ROW, "after": None, "op": "d"},
    ],
    "canal-json": [
        {"data": [ROW, ROW], "type": "INSERT", "database": "d", "table": "t"},
        {"data": [ROW], "old": [{"name": "b"}], "type": "UPDATE", "pkNames": ["id"]},
        {"data": None, "type": "CREATE", "isDdl": True},
    ],
    "maxwell-json": [
        {"data": ROW, "type": "insert", "ts": 5},
        {"data": ROW, "old": {"name": None}, "type": "update"},
        {"data": ROW, "type": "delete"},
    ],
    "ogg-json": [
        {"before": None, "after": ROW, "op_type": "I"},
        {"before": ROW, "after": ROW | {"name": "b"}, "op_type": "U", "table": "x"},
        {"before": ROW, "after": None, "op_type": "D"},
    ],
}


def spec(name: str, columns: tuple[Field, ...], *, skips: bool, last: bool = False) -> ReaderSpec:
    found: Any = FORMATS[name]
    given = {"ignore-parse-errors": Given(str(skips).lower())}
    return ReaderSpec(
        key=None,
        value=found.change_decoder(columns, (), found.options.read(given, "t")),
        key_positions=[-1] * len(columns),
        value_positions=range(len(columns)),
        upsert=False,
        skip_key_errors=False,
        skip_value_errors=skips,
        output_ddl=f"`__row_kind` TINYINT, {spark_ddl(columns)}"
        if columns
        else "`__row_kind` TINYINT",
        changes=ChangesSpec([0] if columns else [], last_only=last),
    )


def read(spark: Any, found: ReaderSpec, values: list[bytes | None]) -> tuple[list[Any], Any]:
    """Return the rows of each record, None for no rows; and the counters that are not zero."""
    rows = [(None, None if v is None else bytearray(v), "pv", 1, i) for i, v in enumerate(values)]
    frame = spark.createDataFrame(rows, StructType.fromDDL(RECORD)).coalesce(1)
    bridge = Bridge(spark)
    counters = bridge.counters(COUNTED_IN)
    out = frame.select("offset", bridge.read(found, counters).alias("rows")).orderBy("offset")
    rows = [None if r.rows is None else [tuple(c) for c in r.rows] for r in out.collect()]
    return rows, {name: count for name, count in counters.values().items() if count}


def test_skipped_records_are_counted(spark: Any) -> None:
    values = [None, b"", b'{"op":"c","after":{"id":1}}', b"{"]
    rows, counts = read(spark, spec("debezium-json", COLUMNS[:1], skips=True), values)
    assert rows == [None, None, [(0, 1)], None]
    assert counts == {"tombstones": 1, "emptyRecords": 1, "parseErrors": 1}


def test_a_moved_key_is_a_delete_and_an_insert(spark: Any) -> None:
    event = {"before": {"id": 1, "name": "a"}, "after": {"id": 2, "name": "a"}, "op": "u"}
    rows, _ = read(
        spark, spec("debezium-json", COLUMNS[:2], skips=False), [json.dumps(event).encode()]
    )
    assert rows == [[(3, 1, "a"), (0, 2, "a")]]


def test_the_last_change_of_each_row(spark: Any) -> None:
    data = [{"id": i % 2, "name": str(i)} for i in range(4)]
    event = {"type": "INSERT", "data": data}
    found = spec("canal-json", COLUMNS[:2], skips=False, last=True)
    rows, _ = read(spark, found, [json.dumps(event).encode()])
    assert rows == [[(0, 0, "2"), (0, 1, "3")]]


@pytest.mark.parametrize("name", EVENTS)
def test_reading_without_columns(name: str, spark: Any) -> None:
    values = [json.dumps(event).encode() for event in EVENTS[name]]
    rows, _ = read(spark, spec(name, (), skips=False), values)
    assert all(len(row) == 1 for changes in rows if changes is not None for row in changes)


def test_a_maxwell_key_without_null_fields(codecs: Any) -> None:
    options = {"database": "d", "table": "t", "encode.ignore-null-fields": "true"}
    encoder = codecs.encoder("maxwell-json", COLUMNS[:2], options)
    rows = codecs.decoder("json", COLUMNS[:2], {})
    for row, expected in ((b"{}", {}), (b'{"id":1}', {"pk.id": 1})):
        written = json.loads(bytes(encoder.encode(rows.decode(row))))
        assert written == {"database": "d", "table": "t"} | expected
