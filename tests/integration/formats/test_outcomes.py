"""Check each cell of the table of docs/tables/formats.md: the result of each kind of bad record."""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from py4j.protocol import Py4JJavaError
from tests.integration.formats.registry_double import RegistryDouble
from tests.integration.formats.test_records import read

from streamtable.connector_api.format import ChangelogFormat
from streamtable.core import types as t
from streamtable.core.codec import Codec
from streamtable.core.options import Given
from streamtable.core.types import Field, spark_ddl
from streamtable.formats.registry import FORMATS
from streamtable.jvm.bridge import Bridge
from streamtable.jvm.specs.reader import ChangesSpec, ReaderSpec

DOCS = Path(__file__).parents[3] / "docs" / "tables" / "formats.md"
ENDS, COUNTED = "fails", "skipped"
#: Placeholder in a record for the zero byte and the id of the schema.
KNOWN = b"\0<id>"
CHANGES = ("debezium-json", "canal-json", "maxwell-json", "ogg-json")
N, S = (Field("n", t.INT),), (Field("s", t.STRING),)
BOTH = N + S
D, F8 = (Field("d", t.decimal(4, 2)),), (Field("f", t.DOUBLE),)
MUST = (Field("n", t.INT.with_nullable(False)),)
STRICT = {"fail-on-missing-field": "true"}
LENIENT = {"ignore-parse-errors": "true"}
WRITER = {
    "type": "record",
    "name": "r",
    "fields": [{"name": "n", "type": "int"}, {"name": "s", "type": "string"}],
}
NODE = {"type": "record", "name": "N", "fields": [{"name": "next", "type": ["null", "N"]}]}
DEEP = {"type": "record", "name": "r", "fields": [{"name": "deep", "type": NODE}]}
DOUBLES = {"type": "record", "name": "r", "fields": [{"name": "f", "type": "double"}]}
DECIMALS = {
    "type": "record",
    "name": "r",
    "fields": [
        {
            "name": "d",
            "type": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2},
        }
    ],
}
LONGS = {"type": "record", "name": "r", "fields": [{"name": "n", "type": "int"}]}
NAN = struct.pack("<d", float("nan"))
TOO_BIG = b"\x80\x80\x80\x80\x10"  # 2147483648
MEGABYTES = b"x" * 5_000_000
LENGTH = b"\x80\xad\xe2\x04"  # 5,000,000


@dataclass(frozen=True)
class Case:
    """One record and its expected result.

    Attributes:
        expected: ENDS, COUNTED, the row as JSON, or the bytes that the format writes for the row.
        schema: the writer's schema for avro-confluent; KNOWN stands for its id.
    """

    format: str
    columns: tuple[Field, ...]
    value: bytes
    expected: Any
    options: dict[str, str] = field(default_factory=dict)
    schema: dict[str, Any] = field(default_factory=lambda: WRITER)


def event(name: str, row: bytes) -> bytes:
    """Return an event that inserts the row."""
    kinds = {
        "debezium-json": b'{"op":"c","after":%s}',
        "canal-json": b'{"type":"INSERT","data":[%s]}',
        "maxwell-json": b'{"type":"insert","data":%s}',
        "ogg-json": b'{"op_type":"I","after":%s}',
    }
    return kinds[name] % row


def events(columns: tuple[Field, ...], row: bytes, expected: Any) -> list[Case]:
    """Return one case per format of change events, with an event that inserts the row."""
    return [Case(name, columns, event(name, row), expected) for name in CHANGES]


def confluent(columns: tuple[Field, ...], record: bytes, expected: Any, **more: Any) -> Case:
    return Case("avro-confluent", columns, KNOWN + record, expected, **more)


#: Situation (the first column of the table) -> cases.
CASES: dict[str, list[Case]] = {
    "empty value": [
        *(Case(name, BOTH, b"", COUNTED) for name in ("json", *CHANGES)),
        *(Case(name, BOTH, b"", ENDS) for name in ("csv", "avro", "avro-confluent")),
        Case("raw", S, b"", {"s": ""}),
        Case("raw", N, b"", ENDS),
    ],
    "truncated bytes": [
        Case("json", BOTH, b'{"n":1,"s":"a', ENDS),
        Case("csv", BOTH, b'1,"a', ENDS),
        Case("csv", BOTH, b"1", ENDS),
        Case("csv", BOTH, b"1,", {"n": 1, "s": ""}),
        Case("raw", N, b"\0\0", ENDS),
        Case("raw", S, b"a", {"s": "a"}),
        Case("avro", BOTH, b"\2\2\2", ENDS),
        confluent(BOTH, b"\2", ENDS),
        *(Case(name, N, event(name, b'{"n":1}')[:-2], ENDS) for name in CHANGES),
    ],
    "bytes after the record": [
        Case("json", N, b'{"n":1} {"n":', {"n": 1}),
        Case("csv", BOTH, b"1,a\n2", {"n": 1, "s": "a"}),
        Case("csv", BOTH, b"1,a,b", ENDS),
        Case("raw", N, b"\0\0\0\1\0", ENDS),
        Case("avro", N, b"\2\2\0", ENDS),
        confluent(BOTH, b"\2\2a\0", ENDS),
        *(Case(name, N, event(name, b'{"n":1}') + b" x", {"n": 1}) for name in CHANGES),
    ],
    "wrong magic byte": [Case("avro-confluent", BOTH, b"\1\0\0\0\1\2\2a", ENDS)],
    "unknown schema id": [Case("avro-confluent", BOTH, b"\0\0\1\0\0\2\2a", ENDS)],
    "invalid UTF-8": [
        Case("json", S, b'{"s":"\xff"}', ENDS),
        Case("csv", S, b"\xff", ENDS),
        Case("raw", S, b"\xff", b"\xff"),
        Case("avro", S, b"\2\2\xff", {"s": "\ufffd"}),
        confluent(BOTH, b"\2\2\xff", {"n": 1, "s": "\ufffd"}),
        *events(S, b'{"s":"\xff"}', ENDS),
    ],
    "NaN, infinities": [
        Case("json", F8, b'{"f":"NaN"}', {"f": "NaN"}),
        Case("json", F8, b'{"f":"-Infinity"}', {"f": "-Infinity"}),
        Case("json", F8, b'{"f":NaN}', ENDS),
        Case("csv", F8, b"NaN", {"f": "NaN"}),
        Case("csv", F8, b"Infinity", {"f": "Infinity"}),
        Case("raw", F8, NAN[::-1], {"f": "NaN"}),
        Case("avro", F8, b"\2" + NAN, {"f": "NaN"}),
        confluent(F8, NAN, {"f": "NaN"}, schema=DOUBLES),
        *events(F8, b'{"f":"NaN"}', {"f": "NaN"}),
        *events(F8, b'{"f":NaN}', ENDS),
    ],
    "duplicate field name": [
        Case("json", N, b'{"n":1,"n":2}', {"n": 2}),
        *events(N, b'{"n":1,"n":2}', {"n": 2}),
    ],
    "integer out of range": [
        Case("json", N, b'{"n":2147483648}', ENDS),
        Case("json", N, b'{"n":2147483648}', {"n": None}, LENIENT),
        Case("csv", N, b"2147483648", ENDS),
        Case("avro", N, b"\2" + TOO_BIG, ENDS),
        confluent(N, TOO_BIG, ENDS, schema=LONGS),
        *events(N, b'{"n":2147483648}', ENDS),
    ],
    "DECIMAL with too many digits": [
        Case("json", D, b'{"d":12345}', {"d": None}),
        Case("csv", D, b"12345", {"d": None}),
        Case("avro", D, b"\2\6\x12\xd6\x44", {"d": None}),
        confluent(D, b"\6\x12\xd6\x44", {"d": None}, schema=DECIMALS),
        *events(D, b'{"d":12345}', {"d": None}),
    ],
    "missing field": [
        Case("json", BOTH, b'{"n":1}', {"n": 1, "s": None}),
        Case("json", BOTH, b'{"n":1}', ENDS, STRICT),
        Case("csv", BOTH, b"1", ENDS),
        Case("csv", BOTH, b"1", {"n": 1, "s": None}, LENIENT),
        confluent((Field("x", t.INT),), b"\2\2a", {"x": None}),
        confluent((Field("x", t.INT.with_nullable(False)),), b"\2\2a", ENDS),
        *events(BOTH, b'{"n":1}', {"n": 1, "s": None}),
    ],
    "nesting deeper than 1,000": [
        Case("json", N, b'{"n":1,"x":' + b"[" * 1_001 + b"]" * 1_001 + b"}", ENDS),
        confluent(N, b"\2" * 1_100 + b"\0", ENDS, schema=DEEP),
        *events(N, b'{"n":1,"x":' + b"[" * 1_001 + b"]" * 1_001 + b"}", ENDS),
    ],
    "5 MB": [
        Case("json", S, b'{"s":"%s"}' % MEGABYTES, {"s": MEGABYTES.decode()}),
        Case("csv", S, MEGABYTES, {"s": MEGABYTES.decode()}),
        Case("raw", S, MEGABYTES, {"s": MEGABYTES.decode()}),
        Case("avro", S, b"\2" + LENGTH + MEGABYTES, {"s": MEGABYTES.decode()}),
        confluent(BOTH, b"\2" + LENGTH + MEGABYTES, {"n": 1, "s": MEGABYTES.decode()}),
        *events(S, b'{"s":"%s"}' % MEGABYTES, {"s": MEGABYTES.decode()}),
    ],
}
#: Cells that test_avro_confluent covers, with registries that fail.
ELSEWHERE = {("registry does not respond", "avro-confluent")}


def table() -> dict[str, dict[str, str]]:
    """Return the table of the page: situation -> format -> text of the cell."""
    text = DOCS.read_text(encoding="utf-8")
    lines = re.findall(
        r"^\|(.*)\|$", text[text.index("## Bad input") :].partition("\n## ")[0], re.M
    )
    head, _, *rows = ([cell.strip() for cell in line.split("|")] for line in lines)
    found: dict[str, dict[str, str]] = {}
    for situation, *cells in rows:
        by_format = dict(zip(head[1:], cells, strict=True))
        shared = by_format.pop("change events")
        found[situation] = by_format | dict.fromkeys(CHANGES, shared)
    return found


def test_every_cell_has_a_case() -> None:
    cells = {
        (row, name) for row, cells in table().items() for name, text in cells.items() if text != "-"
    }
    tested = {(row, case.format) for row, cases in CASES.items() for case in cases}
    assert cells - ELSEWHERE == tested


def test_cells_equal_the_outcome_of_their_first_case() -> None:
    for situation, cases in CASES.items():
        for name, text in table()[situation].items():
            first = next((case.expected for case in cases if case.format == name), None)
            said = re.split(r"\W", text)[0]
            assert (said if said in (ENDS, COUNTED) else "read") == (
                "read" if text == "-" or first not in (ENDS, COUNTED) else first
            ), (situation, name)


@pytest.fixture(scope="module")
def double() -> Iterator[RegistryDouble]:
    with RegistryDouble() as running:
        yield running


def codec_of(case: Case, url: str) -> Codec:
    found = FORMATS[case.format]
    options = {"url": url} if case.format == "avro-confluent" else case.options
    settings = found.options.read({k: Given(v) for k, v in options.items()}, "t")
    if isinstance(found, ChangelogFormat):
        return found.change_decoder(case.columns, (), settings)
    return found.decoder(case.columns, settings)


@pytest.mark.parametrize("situation", CASES)
def test_outcomes(spark: Any, codecs: Any, double: RegistryDouble, situation: str) -> None:
    for case in CASES[situation]:
        found = outcome(spark, codecs, double, case)
        assert found == case.expected, (case.format, case.value[:60])


def outcome(spark: Any, codecs: Any, double: RegistryDouble, case: Case) -> Any:
    value = case.value.replace(
        KNOWN, b"\0" + double.add(json.dumps(case.schema)).to_bytes(4, "big")
    )
    codec = codec_of(case, double.url)
    kind = "changeDecoder" if case.format in CHANGES else "decoder"
    parameters = Bridge(spark).java_map({**codec.parameters, **codec.secrets})
    make = getattr(spark._jvm.io.streamtable.codec.Codecs, kind)
    made = make(codec.java_class, codec.schema_ddl, parameters)
    try:
        row = made.decode(value)
    except Py4JJavaError as error:
        assert "DecodeException" in str(error.java_exception)
        return ENDS
    if row is None:
        return COUNTED
    if case.format in CHANGES:
        row = codecs.row(row[0], range(1, 1 + len(case.columns)))
    if isinstance(case.expected, bytes):
        return bytes(codecs.encoder(case.format, case.columns, {}).encode(row))
    return json.loads(bytes(codecs.encoder("json", case.columns, {}).encode(row)))


GOOD = {
    "json": (b'{"s":"a"}', b'{"n":1}'),
    "csv": (b"a", b"1"),
    "raw": (b"a", b"\0\0\0\1"),
    "avro": (b"\2\2a", b"\2\2"),
}


@pytest.mark.parametrize("name", [*GOOD, *CHANGES])
def test_null_keys_and_null_values(spark: Any, name: str) -> None:
    """Null keys and null values are skipped and counted; raw and upsert tables differ.

    The raw format reads null as NULL. An upsert table counts null keys and reads a null value as a
    delete, also with raw. Keys are in json, csv, raw or avro. Keys of change events are plain json,
    as their tools write them.
    """
    value, key = GOOD.get(name, (event(name, b'{"s":"a"}') if name in CHANGES else b"", b""))
    of_key = name if name in GOOD else "json"
    key = key or b'{"n":1}'
    found, columns = FORMATS[name], N + S
    settings = found.options.read({}, "t")
    changes = isinstance(found, ChangelogFormat)

    def spec(*, upsert: bool) -> ReaderSpec:
        keys = FORMATS[of_key]
        return ReaderSpec(
            key=keys.decoder(N, keys.options.read({}, "t")),
            value=found.change_decoder(S, (), settings)
            if isinstance(found, ChangelogFormat)
            else found.decoder(S, settings),
            key_positions=(0, -1),
            value_positions=(-1, 0),
            upsert=upsert,
            skip_key_errors=False,
            skip_value_errors=False,
            output_ddl=f"`__row_kind` TINYINT, {spark_ddl(columns)}",
            changes=ChangesSpec([], last_only=False) if changes else None,
        )

    records = ((key, value), (key, None), (None, value))
    rows, counts = read(spark, spec(upsert=False), *records)
    reads_null = of_key == "raw"
    assert counts == ({} if reads_null else {"tombstones": 1, "nullKeys": 1})
    expected = [(0, 1, "a"), (0, 1, None), (0, None, "a")] if reads_null else [(0, 1, "a")]
    assert [tuple(row[0]) if changes else row for row in rows] == expected
    if not changes:
        rows, counts = read(spark, spec(upsert=True), *records)
        assert rows == [(2, 1, "a"), (3, 1, None)]
        assert counts == {"nullKeys": 1}
