"""Encode rows of a table as JSON: the bytes of a record's key and value.

An `upsert-kafka` table with the format `json` and the SQL types of Flink CDC's *Data Type Mapping*
writes the same bytes, so such a table can read the topic. Two types differ from `mysql-cdc` in SQL.
TIMESTAMP is an instant, written in UTC with a `Z`, as in Flink CDC's pipelines. TINYINT(1) may stay
a number.
"""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

from streamtable.connectors.mysql_cdc.convert import bits
from streamtable.connectors.mysql_cdc.reader import Row, TableSchema, obstacle, sql_type
from streamtable.core import types as sql
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.types import DataType, Root


@dataclass(frozen=True)
class Constant:
    """A constant text of every row."""

    text: str


@dataclass(frozen=True)
class Hole:
    """A value that Spark computes, and appends to the object."""


#: The origin of a value: a position in the row, a constant, a hole, or None for null.
Place = int | Constant | Hole | None

#: Encodes a non-NULL value as JSON.
Encode = Callable[[Any], str]

_escape = json.JSONEncoder(ensure_ascii=False).encode


def topic_type(table: TableSchema, place: int, *, tinyint1_is_boolean: bool) -> DataType:
    """Return the SQL type for reading a column from its topic.

    Raises:
        StreamtableError: TABLE_UNREADABLE if the column has no SQL type.
    """
    column = table.columns[place]
    if reason := obstacle(column):
        raise StreamtableError(Condition.TABLE_UNREADABLE, table=table.id, reason=reason)
    kind = sql_type(column)
    if column.type.name == "timestamp":
        return DataType(Root.TIMESTAMP_LTZ, kind.nullable, kind.precision)
    if column.type.name == "tinyint" and kind.root is Root.BOOLEAN and not tinyint1_is_boolean:
        return sql.TINYINT.with_nullable(kind.nullable)
    return kind


class RowEncoder:
    """Encodes some columns of a table's rows as one JSON object.

    Args:
        table: the table at the time of the rows.
        columns: (name in the object, origin of the value) in order; holes are left out.
        tinyint1_is_boolean: whether TINYINT(1) is a BOOLEAN.
    """

    def __init__(
        self,
        table: TableSchema,
        columns: Sequence[tuple[str, Place]],
        *,
        tinyint1_is_boolean: bool = True,
    ) -> None:
        self._parts: list[tuple[str, int | None, Encode]] = []
        self._closed = True
        for name, place in columns:
            if isinstance(place, Hole):
                self._closed = False
                continue
            lead = ("," if self._parts else "{") + _escape(name) + ":"
            if isinstance(place, int):
                column = table.columns[place]
                kind = topic_type(table, place, tinyint1_is_boolean=tinyint1_is_boolean)
                is_bits = column.type.name == "bit" and kind.root is Root.BINARY
                self._parts.append((lead, place, _bits if is_bits else _encoder(kind)))
            else:
                text = "null" if place is None else _escape(place.text)
                self._parts.append((lead + text, None, str))

    def encode(self, row: Row) -> bytes:
        """Return the JSON object of a row in UTF-8; with holes, its text up to the first of them.

        Computed columns come last. Their own object without its first brace completes the text.
        """
        found = []
        for lead, place, encode in self._parts:
            found.append(lead)
            if place is not None:
                value = row[place]
                found.append("null" if value is None else encode(value))
        if self._closed:
            found.append("}" if found else "{}")
        else:
            found.append("," if found else "{")
        return "".join(found).encode()


def _encoder(kind: DataType) -> Encode:
    match kind.root:
        case Root.BOOLEAN:
            return _boolean
        case Root.DECIMAL:
            return _decimal
        case Root.FLOAT:
            return _float
        case Root.DOUBLE:
            return repr
        case Root.DATE:
            return _date
        case Root.TIME:
            return _time
        case Root.TIMESTAMP:
            return _timestamp
        case Root.TIMESTAMP_LTZ:
            return _instant
        case Root.BINARY | Root.VARBINARY:
            return _bytes
        case Root.ARRAY:
            return _texts
        case Root.CHAR | Root.VARCHAR:
            return _text
    return str


def _boolean(value: Any) -> str:
    true = any(value) if isinstance(value, bytes) else bool(value)
    return "true" if true else "false"


def _decimal(value: Any) -> str:
    return format(value, "f") if isinstance(value, Decimal) else str(value)


def _float(value: float) -> str:
    """Return the shortest number that is the same 32-bit float."""
    for digits in range(6, 9):
        text = f"{value:.{digits}g}"
        if struct.pack("f", float(text)) == struct.pack("f", value):
            return repr(float(text))
    return repr(float(f"{value:.9g}"))


def _date(value: date) -> str:
    return f'"{value.isoformat()}"'


def _time(value: timedelta) -> str:
    micros = value // timedelta(microseconds=1)
    sign, micros = ("-", -micros) if micros < 0 else ("", micros)
    seconds, fraction = divmod(micros, 1_000_000)
    minutes, second = divmod(seconds, 60)
    hour, minute = divmod(minutes, 60)
    return f'"{sign}{hour:02}:{minute:02}:{second:02}{_fraction(fraction)}"'


def _timestamp(value: datetime) -> str:
    return f'"{_moment(value)}"'


def _instant(value: datetime) -> str:
    return f'"{_moment(value)}Z"'


def _moment(value: datetime) -> str:
    return f"{value.replace(microsecond=0, tzinfo=None)!s}{_fraction(value.microsecond)}"


def _fraction(micros: int) -> str:
    """Format a fraction of a second without trailing zeros, as Flink's JSON does."""
    return f".{micros:06}".rstrip("0") if micros else ""


def _bytes(value: bytes) -> str:
    return f'"{base64.b64encode(value).decode()}"'


def _bits(value: bytes) -> str:
    return _bytes(bits(value))


def _texts(value: Sequence[str]) -> str:
    return "[" + ",".join(map(_escape, value)) + "]"


def _text(value: Any) -> str:
    return _escape(value if isinstance(value, str) else _plain(value))


def _plain(value: Any) -> str:
    """Encode a DECIMAL of more than 38 digits as text."""
    return format(value, "f") if isinstance(value, Decimal) else str(value)
