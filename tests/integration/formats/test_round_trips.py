"""Write rows of random types and values, and read them back."""

from __future__ import annotations

import io
import json
import math
import string
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import fastavro
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from py4j.protocol import Py4JJavaError
from tests.integration.formats.registry_double import RegistryDouble

from streamtable.core import types as t
from streamtable.core.types import Field
from streamtable.formats.avro.schema import avro_schema
from streamtable.formats.raw import HELD

if TYPE_CHECKING:
    from collections.abc import Iterator

SLOW_IS_FINE = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
KEY = t.STRING.with_nullable(False)

#: Pairs of a type and its values, as fastavro reads them back.
SCALARS: list[tuple[t.DataType, st.SearchStrategy[Any]]] = [
    (t.BOOLEAN, st.booleans()),
    (t.TINYINT, st.integers(-128, 127)),
    (t.SMALLINT, st.integers(-(2**15), 2**15 - 1)),
    (t.INT, st.integers(-(2**31), 2**31 - 1)),
    (t.BIGINT, st.integers(-(2**63), 2**63 - 1)),
    (t.FLOAT, st.floats(width=32, allow_nan=False)),
    (t.DOUBLE, st.floats(allow_nan=False)),
    (t.STRING, TEXT),
    (t.BYTES, st.binary(max_size=20)),
    (t.decimal(12, 3), st.integers(-(10**12) + 1, 10**12 - 1).map(lambda n: Decimal(n).scaleb(-3))),
    (t.DATE, st.dates()),
    (t.time(3), st.times().map(lambda v: v.replace(microsecond=v.microsecond // 1000 * 1000))),
    (t.timestamp(6), st.datetimes()),
]


@st.composite
def typed(draw: Any, depth: int = 2) -> tuple[t.DataType, Any]:
    """Draw a type and a value of the type, as Python and fastavro represent it."""
    kind = draw(
        st.sampled_from(["scalar", "scalar", "array", "map", "row"] if depth else ["scalar"])
    )
    if kind == "scalar":
        column_type, values = draw(st.sampled_from(SCALARS))
        if column_type.root is t.Root.TIMESTAMP and depth < 2:
            column_type, values = t.STRING, TEXT  # in containers, Flink has milliseconds only
        value = draw(values)
    elif kind == "row":
        parts = draw(st.lists(typed(depth=depth - 1), min_size=1, max_size=3))
        column_type = t.row(*(Field(f"f{i}", part) for i, (part, _) in enumerate(parts)))
        value = {f"f{i}": part for i, (_, part) in enumerate(parts)}
    else:
        element, sample = draw(typed(depth=depth - 1))
        column_type = t.array(element) if kind == "array" else t.map_of(KEY, element)
        keys = draw(st.lists(TEXT, unique=True, max_size=3))
        value = [sample] * len(keys) if kind == "array" else dict.fromkeys(keys, sample)
    if draw(st.booleans()):
        return column_type, draw(st.sampled_from([value, None]))
    return column_type.with_nullable(False), value


@SLOW_IS_FINE
@given(st.lists(typed(), min_size=1, max_size=4))
def test_avro_equals_fastavro(codecs: Any, columns: list[tuple[t.DataType, Any]]) -> None:
    fields = tuple(Field(f"c{i}", column_type) for i, (column_type, _) in enumerate(columns))
    row = {f"c{i}": value for i, (_, value) in enumerate(columns)}
    options = {"timestamp_mapping.legacy": "false"}
    schema = fastavro.parse_schema(avro_schema(fields, legacy_timestamps=False))
    out = io.BytesIO()
    fastavro.schemaless_writer(out, schema, row)
    decoded = codecs.decoder("avro", fields, options).decode(out.getvalue())
    written = bytes(codecs.encoder("avro", fields, options).encode(decoded))
    assert fastavro.schemaless_reader(io.BytesIO(written), schema) == row


@SLOW_IS_FINE
@given(st.lists(typed(), min_size=1, max_size=4))
def test_json_keeps_the_values_of_avro(codecs: Any, columns: list[tuple[t.DataType, Any]]) -> None:
    fields = tuple(Field(f"c{i}", column_type) for i, (column_type, _) in enumerate(columns))
    row = {f"c{i}": value for i, (_, value) in enumerate(columns)}
    options = {"timestamp_mapping.legacy": "false"}
    out = io.BytesIO()
    schema = fastavro.parse_schema(avro_schema(fields, legacy_timestamps=False))
    fastavro.schemaless_writer(out, schema, row)
    decoded = codecs.decoder("avro", fields, options).decode(out.getvalue())
    encoder = codecs.encoder("json", fields, {})
    text = bytes(encoder.encode(decoded))
    again = codecs.decoder("json", fields, {}).decode(text)
    assert bytes(encoder.encode(again)) == text
    written = bytes(codecs.encoder("avro", fields, options).encode(again))
    assert fastavro.schemaless_reader(io.BytesIO(written), schema) == row


EVENTS = {
    "debezium-json": b'{"before":null,"after":%s,"op":"c"}',
    "canal-json": b'{"data":[%s],"type":"INSERT"}',
    "maxwell-json": b'{"data":%s,"type":"insert"}',
    "ogg-json": b'{"before":null,"after":%s,"op_type":"I"}',
}
LOCAL = {"timestamp_mapping.legacy": "false"}


def from_avro(codecs: Any, fields: tuple[Field, ...], row: dict[str, Any]) -> Any:
    """Return a row in the JVM, decoded from a record that fastavro wrote."""
    out = io.BytesIO()
    schema = fastavro.parse_schema(avro_schema(fields, legacy_timestamps=False))
    fastavro.schemaless_writer(out, schema, row)
    return codecs.decoder("avro", fields, LOCAL).decode(out.getvalue())


def named(
    columns: list[tuple[t.DataType, Any]],
) -> tuple[tuple[Field, ...], dict[str, Any]]:
    fields = tuple(Field(f"c{i}", column_type) for i, (column_type, _) in enumerate(columns))
    return fields, {f"c{i}": value for i, (_, value) in enumerate(columns)}


@pytest.mark.parametrize("name", EVENTS)
@SLOW_IS_FINE
@given(st.lists(typed(), min_size=1, max_size=4))
def test_change_events_keep_row_values(
    codecs: Any, name: str, columns: list[tuple[t.DataType, Any]]
) -> None:
    fields, row = named(columns)
    encoder = codecs.encoder("json", fields, {})
    text = bytes(encoder.encode(from_avro(codecs, fields, row)))
    (change,) = codecs.change_decoder(name, fields).decode(EVENTS[name] % text)
    assert change.values()[0] == 0
    assert bytes(encoder.encode(codecs.row(change, range(1, 1 + len(fields))))) == text


#: Timestamps with milliseconds, as in Avro's legacy mapping. `FLAT` has no containers.
MILLIS = st.datetimes().map(lambda v: v.replace(microsecond=v.microsecond // 1000 * 1000))
FEW_SCALARS = [pair for pair in SCALARS if pair[0].root is not t.Root.TIMESTAMP]
FLAT = st.sampled_from([*FEW_SCALARS, (t.timestamp(3), MILLIS)]).flatmap(
    lambda pair: st.tuples(st.just(pair[0]), st.none() | pair[1])
)


@pytest.fixture(scope="module")
def double() -> Iterator[RegistryDouble]:
    with RegistryDouble() as running:
        yield running


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("json", {"timestamp-format.standard": "ISO-8601"}),
        ("csv", {"null-literal": "<null>"}),
        ("csv", {"null-literal": "<null>", "field-delimiter": ";", "escape-character": "\\"}),
        ("avro", {}),
        ("avro", {"encoding": "json"}),
        ("avro-confluent", {"subject": "s"}),
    ],
    ids=str,
)
@SLOW_IS_FINE
@given(st.lists(FLAT, min_size=1, max_size=6))
def test_simple_types_round_trip(
    codecs: Any,
    double: RegistryDouble,
    name: str,
    options: dict[str, str],
    columns: list[tuple[t.DataType, Any]],
) -> None:
    fields, row = named(columns)
    if options.get("encoding") == "json":
        # Avro's JSON reader, also in Flink, refuses the texts that Avro writes for infinities.
        assume(not any(isinstance(value, float) and math.isinf(value) for _, value in columns))
    more = {"url": double.url} if name == "avro-confluent" else {}
    source = from_avro(codecs, fields, row)
    written = bytes(codecs.encoder(name, fields, {**options, **more}).encode(source))
    assume(written)  # a csv row of one empty text is an empty record: no parse, as in Flink
    found = codecs.decoder(name, fields, {**options, **more}).decode(written)
    shown = codecs.encoder("json", fields, {})
    assert bytes(shown.encode(found)) == bytes(shown.encode(source))


RAW = [pair for pair in SCALARS if pair[0].root in HELD]


@pytest.mark.parametrize("order", ["big-endian", "little-endian"])
@SLOW_IS_FINE
@given(st.sampled_from(RAW).flatmap(lambda pair: st.tuples(st.just(pair[0]), pair[1])))
def test_raw_round_trips(codecs: Any, order: str, column: tuple[t.DataType, Any]) -> None:
    fields, row = named([column])
    source = from_avro(codecs, fields, row)
    written = bytes(codecs.encoder("raw", fields, {"endianness": order}).encode(source))
    found = codecs.decoder("raw", fields, {"endianness": order}).decode(written)
    shown = codecs.encoder("json", fields, {})
    assert bytes(shown.encode(found)) == bytes(shown.encode(source))


AVRO_COLUMNS = (
    Field("id", t.INT.with_nullable(False)),
    Field("name", t.STRING),
    Field("tags", t.array(t.STRING.with_nullable(False)).with_nullable(False)),
)
LONG = b"\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "field 'id': the record ends too early, after 0 bytes"),
        (b"\x02", "field 'name': the record ends too early, after 1 bytes"),
        (b"\x02\x00", "field 'tags': the record ends too early"),
        (b"\x02\x00\x00\x00", "1 bytes too many after the record"),
        (b"\x02\x04", "field 'name': branch 2 of a union of 2"),
        (b"\x02\x02\x7f", "field 'name': a length of -64 announced"),
        (b"\x02\x02" + LONG, "field 'name': a length of 9223372036854775807 announced"),
        (b"\x02\x00" + LONG, "field 'tags': 9223372036854775807 items announced"),
        (b"\x80" * 11, "field 'id': a number of more than ten bytes"),
        (b"\x80\x80\x80\x80\x10", "field 'id': 2147483648 is not a valid INT"),
    ],
    ids=string.ascii_lowercase[:10],
)
def test_broken_avro(codecs: Any, data: bytes, reason: str) -> None:
    with pytest.raises(Py4JJavaError) as caught:
        codecs.decoder("avro", AVRO_COLUMNS, {}).decode(data)
    assert reason in caught.value.java_exception.getMessage()


def test_invalid_utf8_in_avro_is_replaced(codecs: Any) -> None:
    columns = (Field("s", t.STRING.with_nullable(False)),)
    row = codecs.decoder("avro", columns, {}).decode(b"\x04a\xff")
    assert json.loads(bytes(codecs.encoder("json", columns, {}).encode(row))) == {"s": "a\ufffd"}


@pytest.mark.parametrize("value", [b"\x80\x02", b"\xff\x01"])
def test_avro_tinyint_out_of_range(codecs: Any, value: bytes) -> None:
    columns = (Field("n", t.TINYINT.with_nullable(False)),)
    if value == b"\xff\x01":  # -128
        assert codecs.decoder("avro", columns, {}).decode(value) is not None
        return
    with pytest.raises(Py4JJavaError, match="128 is not a valid TINYINT"):
        codecs.decoder("avro", columns, {}).decode(value)
