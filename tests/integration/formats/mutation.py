"""Break records of each format in a reproducible way, and count the results of reading them."""

from __future__ import annotations

import json
import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql.types import StructType
from tests.integration.formats.registry_double import RegistryDouble

from streamtable.connector_api.format import ChangelogFormat
from streamtable.core import types as t
from streamtable.core.codec import Codec
from streamtable.core.options import Given
from streamtable.core.types import Field, spark_ddl
from streamtable.formats.avro.schema import avro_schema
from streamtable.formats.registry import FORMATS
from streamtable.jvm.bridge import Bridge
from streamtable.jvm.specs.reader import ChangesSpec, ReaderSpec
from streamtable.jvm.streaming.counters import COUNTED_IN

RECORD = "key BINARY, value BINARY, topic STRING, partition INT, offset BIGINT"
SIMPLE = (
    Field("b", t.BOOLEAN),
    Field("i1", t.TINYINT),
    Field("i2", t.SMALLINT),
    Field("i4", t.INT),
    Field("i8", t.BIGINT),
    Field("f4", t.FLOAT),
    Field("f8", t.DOUBLE),
    Field("d", t.decimal(10, 2)),
    Field("s", t.STRING),
    Field("y", t.BYTES),
    Field("day", t.DATE),
    Field("tm", t.time(3)),
    Field("ts", t.timestamp(3)),
    Field("a", t.array(t.INT)),
    Field("r", t.row(Field("x", t.INT), Field("y", t.STRING))),
)
NESTED = (
    *SIMPLE,
    Field("m", t.map_of(t.STRING.with_nullable(False), t.array(t.STRING))),
    Field("n", t.row(Field("o", t.array(t.row(Field("p", t.decimal(5, 1))))))),
)
ROW = {
    "b": True,
    "i1": -7,
    "i2": 300,
    "i4": 70000,
    "i8": 5_000_000_000,
    "f4": 1.5,
    "f8": -2.25e-3,
    "d": 12.34,
    "s": 'a "b", é\\',
    "y": "AQID",
    "day": "2024-02-29",
    "tm": "23:59:58.123",
    "ts": "2024-02-29 12:34:56.789",
    "a": [1, None, 3],
    "r": {"x": 5, "y": "z"},
    "m": {"k": ["v", None], "l": []},
    "n": {"o": [{"p": 1.5}, None]},
}
#: Bytes that a mutation may insert. All of them are hard cases for a parser.
PIECES = (
    *(
        b"null",
        b'{"a":1}',
        b"[[",
        b'"',
        b"1e999",
        b"\xed\xa0\x80",
        b"\xff\xff\xff\xff\x0f",
        b"\\u12",
    ),
    *(b"-", b"9" * 40, b"\x80" * 11, b"\0\0\0\0", b";", b"\n", b"NaN", b"\\"),
)


@dataclass(frozen=True)
class Subject:
    """A format to test: its columns, its options and the good change events to mutate."""

    format: str
    columns: tuple[Field, ...] = NESTED
    options: dict[str, str] = field(default_factory=dict)
    events: tuple[dict[str, Any], ...] = ()


EVENTS = {
    "debezium-json": (
        {"before": None, "after": ROW, "op": "c", "ts_ms": 1},
        {"before": ROW, "after": ROW | {"s": "b"}, "op": "u", "source": {"db": "x"}},
        {"before": ROW, "after": None, "op": "d"},
    ),
    "canal-json": (
        {"data": [ROW, ROW], "type": "INSERT", "database": "d", "table": "t"},
        {"data": [ROW], "old": [{"s": "b"}], "type": "UPDATE", "pkNames": ["i8"]},
        {"data": None, "type": "CREATE", "isDdl": True},
    ),
    "maxwell-json": (
        {"data": ROW, "type": "insert", "ts": 5},
        {"data": ROW, "old": {"s": None}, "type": "update"},
        {"data": ROW, "type": "delete"},
    ),
    "ogg-json": (
        {"before": None, "after": ROW, "op_type": "I", "op_ts": "2024-01-02 03:04:05.000000"},
        {"before": ROW, "after": ROW | {"s": "b"}, "op_type": "U", "table": "x"},
        {"before": ROW, "after": None, "op_type": "D"},
    ),
}
SKIPS = {"ignore-parse-errors": "true"}
SUBJECTS = {
    "json": Subject("json", options=SKIPS),
    "csv": Subject("csv", SIMPLE, {**SKIPS, "escape-character": "\\", "null-literal": "null"}),
    "raw number": Subject("raw", (Field("i8", t.BIGINT),)),
    "raw text": Subject("raw", (Field("s", t.STRING),)),
    "avro": Subject("avro"),
    "avro in json": Subject("avro", options={"encoding": "json"}),
    "avro-confluent": Subject("avro-confluent"),
    **{name: Subject(name, options=SKIPS, events=tuple(events)) for name, events in EVENTS.items()},
}


def mutated(source: random.Random, record: bytes) -> bytes:
    """Return the record after one to four changes: bytes removed, inserted, replaced, cut off."""
    data = bytearray(record)
    for _ in range(source.randint(1, 4)):
        at = source.randrange(len(data)) if data else 0
        match source.randrange(5):
            case 0:
                del data[at : at + source.randint(1, 8)]
            case 1 if data:
                data[at] = source.choice(b'{}[]",:;0e-x\x00\xff')
            case 2 if data:
                data[at] = source.randrange(256)
            case 3:
                data[at:at] = source.choice(PIECES)
            case _:
                del data[at:]
                data += source.choice((b"", b"\0", b"}"))
    return bytes(data)


@contextmanager
def good_records(codecs: Any, subject: Subject) -> Iterator[tuple[dict[str, str], list[bytes]]]:
    """Yield the options and the good records of the subject while a schema registry runs."""
    with RegistryDouble() as double:
        if subject.events:
            yield subject.options, [json.dumps(event).encode() for event in subject.events]
            return
        row = codecs.decoder("json", subject.columns, {}).decode(json.dumps(ROW).encode())
        options = dict(subject.options)
        if subject.format == "avro-confluent":
            options["url"] = double.url
            double.add(json.dumps(avro_schema(subject.columns)))
        encoder = codecs.encoder(subject.format, subject.columns, {**options, "subject": "s"})
        yield options, [bytes(encoder.encode(row))]


def reader_spec(subject: Subject, options: dict[str, str]) -> ReaderSpec:
    """Return the spec of a reader of the subject's values that skips values that do not parse."""
    found, columns = FORMATS[subject.format], subject.columns
    settings = found.options.read({key: Given(text) for key, text in options.items()}, "t")
    changes = isinstance(found, ChangelogFormat)
    codec: Codec = (
        found.change_decoder(columns, (), settings)
        if isinstance(found, ChangelogFormat)
        else found.decoder(columns, settings)
    )
    return ReaderSpec(
        key=None,
        value=codec,
        key_positions=[-1] * len(columns),
        value_positions=range(len(columns)),
        upsert=False,
        skip_key_errors=False,
        skip_value_errors=True,
        output_ddl=f"`__row_kind` TINYINT, {spark_ddl(columns)}",
        changes=ChangesSpec([], last_only=False) if changes else None,
    )


def outcomes(spark: Any, spec: ReaderSpec, values: list[bytes]) -> tuple[int, dict[str, int]]:
    """Return the number of records that gave rows, and the counters that are not zero."""
    rows = [(None, bytearray(value), "pv", 1, i) for i, value in enumerate(values)]
    frame = spark.createDataFrame(rows, StructType.fromDDL(RECORD)).coalesce(2)
    bridge = Bridge(spark)
    counters = bridge.counters(COUNTED_IN)
    read = frame.select(bridge.read(spec, counters).alias("row"))
    with ended_after(spark, seconds=600):
        # `to_json` reads every column, so that a value that Spark cannot hold fails here.
        found = read.selectExpr("row IS NOT NULL AS there", "to_json(struct(row)) AS text")
        there = found.selectExpr("count_if(there) AS n", "sum(length(text)) AS size").first().n
    return there, {name: count for name, count in counters.values().items() if count}


@contextmanager
def ended_after(spark: Any, *, seconds: float) -> Iterator[None]:
    """Cancel all jobs after a time, so that a record that hangs a decoder fails the test."""
    context = spark.sparkContext
    watch = threading.Timer(seconds, context.cancelAllJobs)
    watch.start()
    try:
        yield
    finally:
        watch.cancel()
