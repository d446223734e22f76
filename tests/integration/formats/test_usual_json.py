"""Objects that the scanner reads without the parser give the same rows as with the parser."""

from __future__ import annotations

import json
import os
import random
from typing import Any

import pytest
from pyspark.sql.types import StructType
from tests.integration.formats.mutation import RECORD, mutated
from tests.integration.formats.test_mutated_records import made, value_reader

from streamtable.core import types as t
from streamtable.core.types import Field
from streamtable.jvm.bridge import Bridge
from streamtable.jvm.streaming.counters import COUNTED_IN

_INNER = Field("b", t.BOOLEAN)
COLUMNS = (
    Field("b", t.BOOLEAN),
    Field("i4", t.INT),
    Field("i8", t.BIGINT),
    Field("f8", t.DOUBLE),
    Field("d", t.decimal(10, 2)),
    Field("s", t.STRING),
    Field("größe", t.STRING),
    Field("day", t.DATE),
    Field("time", t.time(3)),
    Field("ts", t.timestamp(3)),
    Field("at", t.timestamp_ltz(3)),
    Field("row", t.row(Field("i4", t.INT), Field("s", t.STRING), Field("in", t.row(_INNER)))),
)
#: Only the parser reads the last column, so it reads all columns. No record has this column.
PARSED = (*COLUMNS, Field("never", t.array(t.INT)))
NAMES = [*(f.name for f in COLUMNS), "other", "S", ""]
TOKENS = (
    *("true", "false", "null", "True", "nul", "0", "-0", "7", "-12", "007", "+1", "-", "1.", ".5"),
    *("2147483647", "2147483648", "-2147483648", "999999999999999999", "9223372036854775807"),
    *("-9223372036854775808", "9223372036854775808", "1.5", "-0.0", "12345678.905", "1e3", "1E-2"),
    *(
        "123456789.12",
        "0.123456789012345678901",
        '""',
        '"a b"',
        '"é\u4e2d😀"',
        '"\\u00e9"',
        '"\\n"',
    ),
    *(
        '"\ufffd"',
        '"\t"',
        '"12"',
        '" 12 "',
        '"true"',
        '"NaN"',
        "NaN",
        '"2024-02-29"',
        '"2024-02-30"',
    ),
    *('"2024-02-29 12:34:56.789"', '"2024-02-29 12:34:56Z"', '"2024-02-29T12:34:56"', "[]", "{}"),
    *('[1, [2, {"a": "]"}], null]', '{"b": {"b": [true]}, "i4": "x"}', "[1,]", "[,]", '{"a":1,}'),
    *('{"in": {"b": 7, "b": false}}', '{"in": null, "s": 5}', '{"i4": {}}', '{"in": {"b": tru}}'),
    *("[" * 40 + "]" * 40, "[" * 40, "[-", "tru", '"open', "'a'", "1 2", "12abc", '"a""b"'),
)
#: The usual value of each column, in the order of COLUMNS.
USUAL = (
    *("true", "7", "5000000000", "-2.25", "12.34", '"text"', '"grö"'),
    *('"2024-02-29"', '"12:34:56.789"', '"2024-02-29 12:34:56.789"', '"2024-02-29 12:34:56Z"'),
    '{"s": "é", "other": {"i4": [{}]}, "i4": 7, "in": {"b": true}}',
)


def written(source: random.Random) -> bytes:
    """Return an object of up to seven random members, mostly columns with values of their types.

    The members have any order, and a name may occur twice.
    """
    names = source.choices(NAMES, k=source.randrange(8))
    blank = source.choice(("", "", " ", "\n\t "))
    members = []
    for name in names:
        known = name in NAMES[: len(COLUMNS)] and source.random() < 0.85
        value = USUAL[NAMES.index(name)] if known else source.choice(TOKENS)
        members.append(f"{json.dumps(name, ensure_ascii=False)}{blank}:{blank}{value}{blank}")
    return (blank + "{" + ",".join(members) + "}" + source.choice(("", "", " ", "x"))).encode()


def rows(
    spark: Any, columns: tuple[Field, ...], values: list[bytes], options: dict[str, str]
) -> tuple[list[tuple[Any, ...] | None], dict[str, int]]:
    """Return the columns of each record as texts, or None; and the counters that are not zero."""
    records = [(None, bytearray(value), "pv", 1, i) for i, value in enumerate(values)]
    frame = spark.createDataFrame(records, StructType.fromDDL(RECORD)).coalesce(2)
    bridge = Bridge(spark)
    counters = bridge.counters(COUNTED_IN)
    # A bad record is counted and does not end the job, even if the options are strict.
    reader = value_reader(made("json", columns, options), columns, skips=True)
    read = frame.select("offset", bridge.read(reader, counters).alias("row"))
    texts = [f"CAST(row.`{f.name}` AS STRING)" for f in COLUMNS]
    found = read.selectExpr("offset", "row IS NOT NULL", *texts).collect()
    by_offset = {row[0]: tuple(row[2:]) if row[1] else None for row in found}
    counts = {name: count for name, count in counters.values().items() if count}
    return [by_offset[i] for i in range(len(values))], counts


def differ(spark: Any, count: int, seed: int, options: dict[str, str]) -> None:
    source = random.Random(seed)
    values = [written(source) for _ in range(count)]
    values += [mutated(source, value) for value in values]
    scanned, scanned_counts = rows(spark, COLUMNS, values, options)
    parsed, parsed_counts = rows(spark, PARSED, values, options)
    assert scanned_counts == parsed_counts
    pairs = zip(values, scanned, parsed, strict=True)
    assert [(v, a, b) for v, a, b in pairs if a != b] == []
    assert 0.2 < sum(row is None for row in parsed) / len(parsed) < 0.8


OPTIONS = ({}, {"ignore-parse-errors": "true"}, {"timestamp-format.standard": "ISO-8601"})


@pytest.mark.parametrize("options", OPTIONS, ids=["strict", "lenient", "iso"])
def test_scanner_and_parser_give_the_same_rows(spark: Any, options: dict[str, str]) -> None:
    differ(spark, 3_000, 11, options)


def test_fail_on_missing_field_applies_to_the_scanner(spark: Any) -> None:
    columns = COLUMNS[1:3]
    values = [b'{"i8": 1, "i4": 2}', b'{"i4": 2}', b'{"i4": 2, "i8": null}', b"{}"]
    reader = value_reader(
        made("json", columns, {"fail-on-missing-field": "true"}), columns, skips=True
    )
    records = [(None, bytearray(value), "pv", 1, i) for i, value in enumerate(values)]
    frame = spark.createDataFrame(records, StructType.fromDDL(RECORD))
    bridge = Bridge(spark)
    read = frame.select(bridge.read(reader, bridge.counters(COUNTED_IN)).alias("row"))
    found = [row.row and tuple(row.row)[1:] for row in read.collect()]
    assert found == [(2, 1), None, (2, None), None]


@pytest.mark.soak
@pytest.mark.parametrize("options", OPTIONS, ids=["strict", "lenient", "iso"])
def test_scanner_and_parser_give_the_same_rows_for_many_records(
    spark: Any, options: dict[str, str]
) -> None:
    differ(spark, 100_000, int(os.environ.get("FUZZ_SEED", "1")), options)


def test_strings_of_many_lengths_and_bytes(spark: Any) -> None:
    """The scanner reads strings like the parser, although the scanner reads eight bytes at once."""
    pieces = [b"", b'"', b"\\", b"\\n", b"\x00", b"\x1f", b" ", b"\x7f", b"\x80", b"\xff"]
    pieces += ["é".encode(), "\ufffd".encode(), "😀".encode(), b"!", b"#", b"[", b"]", b"\xc3"]
    values = [
        b'{"other":"%s%s%s","s":"%s%s%s"}' % ((b"a" * before, piece, b"b" * after) * 2)
        for piece in pieces
        for before in (*range(9), 15, 16, 17)
        for after in (0, 1, 7, 8, 9)
    ]
    scanned, scanned_counts = rows(spark, COLUMNS, values, {})
    parsed, parsed_counts = rows(spark, PARSED, values, {})
    assert scanned_counts == parsed_counts
    pairs = zip(values, scanned, parsed, strict=True)
    assert [(v, a, b) for v, a, b in pairs if a != b] == []
    assert any(row is None for row in parsed)
