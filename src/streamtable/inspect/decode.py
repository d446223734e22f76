"""Key and value bytes -> Python values, by the formats of a table."""

from __future__ import annotations

import csv
import io
import json
import struct
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, Literal

import fastavro

from streamtable.connectors.kafka.sides import Side
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.types import APPROXIMATE, BYTES_ROOTS, CHARACTER, INTEGERS, Root
from streamtable.formats.avro import ENCODING, Encoding
from streamtable.formats.avro_schema import avro_schema
from streamtable.formats.csv import DELIMITER, ESCAPE, NO_QUOTES, NULL_LITERAL, QUOTE
from streamtable.formats.raw import CHARSET, ENDIANNESS, Endianness

#: Bytes of a key or value -> its columns by their names in the table.
Decode = Callable[[bytes], dict[str, Any]]


def decoder_of(side: Side) -> Decode:
    """How to read one side of a record; NOT_YET for a format that only Spark reads so far."""
    readers: Mapping[str, Callable[[Side], Decode]] = {
        "json": _json,
        "avro": _avro,
        "csv": _csv,
        "raw": _raw,
    }
    make = readers.get(side.format.identifier)
    if make is None:
        raise StreamtableError(
            Condition.NOT_YET, what=f"showing topics in format '{side.format.identifier}'"
        )
    return make(side)


def _json(side: Side) -> Decode:
    def decode(data: bytes) -> dict[str, Any]:
        found = json.loads(data)
        return {side.prefix + name: value for name, value in found.items()}

    return decode


def _avro(side: Side) -> Decode:
    if side.settings[ENCODING] is Encoding.JSON:
        raise StreamtableError(Condition.NOT_YET, what="showing topics in avro's json encoding")
    schema = fastavro.parse_schema(avro_schema(side.fields))

    def decode(data: bytes) -> dict[str, Any]:
        found = fastavro.schemaless_reader(io.BytesIO(data), schema, None)
        assert isinstance(found, dict), "a table's schema is a record"  # noqa: S101
        return {side.prefix + str(name): value for name, value in found.items()}

    return decode


def _csv(side: Side) -> Decode:
    settings = side.settings
    quotes: Literal[0, 3] = csv.QUOTE_NONE if settings[NO_QUOTES] else csv.QUOTE_MINIMAL
    null = settings.get(NULL_LITERAL)
    columns = [(side.prefix + f.name, _TEXTS.get(f.type.root, str)) for f in side.fields]

    def decode(data: bytes) -> dict[str, Any]:
        # Line ends within quotes stay what they are only where the reader gets them unsplit.
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


#: Types whose text is not shown as it stands.
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
