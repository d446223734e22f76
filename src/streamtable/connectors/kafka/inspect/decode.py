"""Decode key and value bytes into Python values, by the formats of a table."""

from __future__ import annotations

import csv
import io
import json
import struct
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, Literal

import fastavro

from streamtable.connectors.kafka.options.sides import Side
from streamtable.connectors.kafka.schemas.client import SchemaRegistry
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.types import APPROXIMATE, BYTES_ROOTS, CHARACTER, INTEGERS, Root
from streamtable.formats.avro.avro import ENCODING, LEGACY_TIMESTAMPS, Encoding
from streamtable.formats.avro.schema import avro_schema
from streamtable.formats.avro.types import parse_registered
from streamtable.formats.cdc.debezium_json import SCHEMA_INCLUDE
from streamtable.formats.csv import DELIMITER, ESCAPE, NO_QUOTES, NULL_LITERAL, QUOTE
from streamtable.formats.raw import CHARSET, ENDIANNESS, Endianness

#: Decodes the bytes of a key or value into columns, by their names in the table.
Decode = Callable[[bytes], dict[str, Any]]

#: The magic byte and the schema id of a record with a registered schema.
_HEADER = struct.Struct(">bi")


def decoder_of(side: Side) -> Decode:
    """Return the decoder of one side of a record: a key, or a value that is not a change event."""
    readers: Mapping[str, Callable[[Side], Decode]] = {
        "json": _json,
        "json-confluent": _json_confluent,
        "avro": _avro,
        "avro-confluent": _avro_confluent,
        "debezium-json": _debezium_key,
        "canal-json": _json,
        "maxwell-json": _maxwell_key,
        "ogg-json": _json,
        "csv": _csv,
        "raw": _raw,
    }
    name = side.format.identifier
    if name not in readers:
        raise StreamtableError(
            Condition.NOT_YET,
            what=f"showing topics of format '{name}'",
            hint="jobs can read and write it; use another format where a topic is shown",
        )
    return readers[name](side)


def _json(side: Side) -> Decode:
    def decode(data: bytes) -> dict[str, Any]:
        found = json.loads(data)
        return {side.prefix + name: value for name, value in found.items()}

    return decode


def _json_confluent(side: Side) -> Decode:
    decode = _json(side)
    return lambda data: decode(data[_HEADER.size :])


def _debezium_key(side: Side) -> Decode:
    if not side.settings[SCHEMA_INCLUDE]:
        return _json(side)

    def decode(data: bytes) -> dict[str, Any]:
        found = json.loads(data)["payload"]
        return {side.prefix + name: value for name, value in found.items()}

    return decode


def _maxwell_key(side: Side) -> Decode:
    def decode(data: bytes) -> dict[str, Any]:
        found = json.loads(data)
        return {side.prefix + field.name: found.get(f"pk.{field.name}") for field in side.fields}

    return decode


def _avro(side: Side) -> Decode:
    legacy = side.settings[LEGACY_TIMESTAMPS]
    schema = fastavro.parse_schema(avro_schema(side.fields, legacy_timestamps=legacy))

    def read(data: bytes) -> Any:
        if side.settings[ENCODING] is Encoding.JSON:
            return next(fastavro.json_reader(io.StringIO(data.decode()), schema))
        return fastavro.schemaless_reader(io.BytesIO(data), schema, None)

    return lambda data: _columns(side, read(data))


def _avro_confluent(side: Side) -> Decode:
    schemas = SchemaRegistry(side.settings)
    parsed: dict[int, Any] = {}

    def decode(data: bytes) -> dict[str, Any]:
        magic, schema_id = _HEADER.unpack_from(data)
        if magic:
            reason = f"the magic byte is 0x{magic & 0xFF:02x}, not 0x00"
            raise StreamtableError(Condition.RECORD_UNREADABLE, reason=reason)
        if schema_id not in parsed:
            named: dict[str, Any] = {}
            for part in schemas.parts(schema_id):
                parsed[schema_id] = parse_registered(part, named)
        found = fastavro.schemaless_reader(
            io.BytesIO(data[_HEADER.size :]), parsed[schema_id], None
        )
        return _columns(side, found)

    return decode


def _columns(side: Side, record: Any) -> dict[str, Any]:
    """Return the table's columns of a record whose schema may have more or fewer fields."""
    return {side.prefix + field.name: record.get(field.name) for field in side.fields}


def _csv(side: Side) -> Decode:
    settings = side.settings
    quotes: Literal[0, 3] = csv.QUOTE_NONE if settings[NO_QUOTES] else csv.QUOTE_MINIMAL
    null = settings.get(NULL_LITERAL)
    columns = [(side.prefix + f.name, _TEXTS.get(f.type.root, str)) for f in side.fields]

    def decode(data: bytes) -> dict[str, Any]:
        # The csv reader keeps line ends within quotes only if it gets the text unsplit.
        lines = io.StringIO(data.decode(), newline="")
        fields = next(
            csv.reader(
                lines,
                delimiter=settings[DELIMITER],
                quotechar=settings[QUOTE],
                escapechar=settings.get(ESCAPE),
                quoting=quotes,
            ),
            [""],
        )
        return {
            name: None if text == null or (not text and read is not str) else read(text)
            for (name, read), text in zip(columns, fields or [""], strict=False)
        }

    return decode


def _boolean(text: str) -> bool:
    return text.strip().lower() == "true"


#: Types whose values are not shown as their text.
_TEXTS: Mapping[Root, Callable[[str], Any]] = {
    Root.BOOLEAN: _boolean,
    **dict.fromkeys(INTEGERS, int),
    **dict.fromkeys(APPROXIMATE, float),
    Root.DECIMAL: Decimal,
}


def _raw(side: Side) -> Decode:
    (column,) = side.fields
    name, root = side.prefix + column.name, column.type.root
    order = ">" if side.settings[ENDIANNESS] is Endianness.BIG else "<"

    def decode(data: bytes) -> dict[str, Any]:
        if root in CHARACTER:
            return {name: data.decode(side.settings[CHARSET], "replace")}
        if root in BYTES_ROOTS:
            return {name: data}
        return {name: struct.unpack(order + _NUMBERS[root], data)[0]}

    return decode


_NUMBERS = {
    Root.BOOLEAN: "?",
    Root.TINYINT: "b",
    Root.SMALLINT: "h",
    Root.INT: "i",
    Root.BIGINT: "q",
    Root.FLOAT: "f",
    Root.DOUBLE: "d",
}
