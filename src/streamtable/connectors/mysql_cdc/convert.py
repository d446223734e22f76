"""Convert values of MySQL to values of declared SQL types, in the form that pyarrow takes.

The declared type may differ from the server's type if it can represent every value; source:
`RowDataDebeziumDeserializeSchema` of Flink CDC.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any
from zoneinfo import ZoneInfo

from streamtable.connectors.mysql_cdc.names import BinaryMode
from streamtable.connectors.mysql_cdc.reader.model import Column, MySqlType
from streamtable.connectors.mysql_cdc.reader.values.snapshot_values import time_text
from streamtable.connectors.mysql_cdc.reader.values.types import BLOBS
from streamtable.core.types import APPROXIMATE, BYTES_ROOTS, CHARACTER, INTEGERS, DataType, Root

Convert = Callable[[Any], Any]

_WHOLE = frozenset({"tinyint", "smallint", "mediumint", "int", "bigint", "year"})
_NUMBERS = _WHOLE | {"decimal", "float", "double"}
_BYTES = frozenset({"binary", "varbinary", *BLOBS})
_TEMPORAL = frozenset({"date", "datetime", "timestamp", "time"})
_DAY = timedelta(days=1)
_EXACT = Context(prec=100)
_BITS = {Root.TINYINT: 8, Root.SMALLINT: 16, Root.INT: 32, Root.BIGINT: 64}


class NoPlaceError(ValueError):
    """A value that the declared type cannot represent."""


def converter(column: Column, target: DataType, zone: str, binary: BinaryMode) -> Convert:
    """Return the conversion of a column's values to a declared type; callers handle NULL.

    Args:
        column: the column of the server.
        target: the type that the table declares.
        zone: the time zone in which a TIMESTAMP is shown.
        binary: the text encoding of bytes.

    Raises:
        TypeError: the type cannot represent the values of the column.
    """
    found = _found(column.type, target, ZoneInfo(zone), binary)
    if found is None:
        raise TypeError(target.sql())
    return found


def _found(kind: MySqlType, target: DataType, zone: ZoneInfo, binary: BinaryMode) -> Convert | None:
    root = target.root
    if root in CHARACTER:
        return _text(kind, zone, binary)
    if root in BYTES_ROOTS:
        return _bytes(kind)
    if root is Root.ARRAY:
        return list if kind.name == "set" else None
    if kind.name in _TEMPORAL:
        return _time(kind, target, zone)
    if kind.name in _NUMBERS or kind.name == "bit":
        return _number(kind, target)
    return None


def _number(kind: MySqlType, target: DataType) -> Convert | None:
    root = target.root
    plain: Convert = _of_bits if kind.name == "bit" else _same
    if root is Root.BOOLEAN:
        return lambda value: plain(value) != 0
    if root in INTEGERS:
        if kind.name in ("float", "double") or (kind.name == "decimal" and kind.scale):
            return None
        limit = 1 << _BITS[root] - 1
        return lambda value: _fitting(int(plain(value)), limit, target)
    if root in APPROXIMATE:
        return lambda value: float(plain(value))
    if root is Root.DECIMAL:
        return _decimal(plain, target)
    return None


def _decimal(plain: Convert, target: DataType) -> Convert:
    scale = target.scale or 0
    unit, limit = Decimal(1).scaleb(-scale), Decimal(10) ** ((target.precision or 10) - scale)

    def convert(value: Any) -> Decimal:
        number = plain(value)
        exact = Decimal(repr(number)) if isinstance(number, float) else Decimal(number)
        if abs(exact) >= limit:
            raise NoPlaceError(_too_large(exact, target))
        return exact.quantize(unit, ROUND_HALF_UP, _EXACT)

    return convert


def _fitting(value: int, limit: int, target: DataType) -> int:
    if not -limit <= value < limit:
        raise NoPlaceError(_too_large(value, target))
    return value


def _too_large(value: object, target: DataType) -> str:
    return f"{value} does not fit into {target.with_nullable(True)}"


def _time(kind: MySqlType, target: DataType, zone: ZoneInfo) -> Convert | None:
    digits = target.precision or 0
    step = 10 ** max(0, 6 - digits)
    name, root = kind.name, target.root
    if name == "time":
        return (lambda value: _of_day(value, step)) if root is Root.TIME else None
    local = _local(name, zone)
    match root:
        case Root.DATE:
            return _same if name == "date" else lambda value: local(value).date()
        case Root.TIMESTAMP:
            return lambda value: _cut(local(value), step)
        case Root.TIMESTAMP_LTZ if name == "timestamp":
            return lambda value: _cut(value, step)
        case Root.TIMESTAMP_LTZ:
            return lambda value: _cut(local(value).replace(tzinfo=zone).astimezone(UTC), step)
        case Root.TIME if name != "date":
            return lambda value: _since_midnight(local(value), step)
    return None


def _local(name: str, zone: ZoneInfo) -> Convert:
    """Return the conversion to a temporal value as the server shows it, without a zone."""
    if name == "timestamp":
        return lambda value: value.astimezone(zone).replace(tzinfo=None)
    if name == "date":
        return lambda value: datetime(value.year, value.month, value.day)
    return _same


def _cut(value: datetime, step: int) -> datetime:
    return value.replace(microsecond=value.microsecond // step * step) if step > 1 else value


def _of_day(value: timedelta, step: int) -> int:
    """Return the nanoseconds since midnight."""
    if not timedelta(0) <= value < _DAY:
        text = f"{time_text(value)} is no time of day; declare the column STRING"
        raise NoPlaceError(text)
    return value // timedelta(microseconds=1) // step * step * 1000


def _since_midnight(value: datetime, step: int) -> int:
    return _of_day(value - datetime(value.year, value.month, value.day), step)


def bits(value: bytes) -> bytes:
    """Return the bytes of a BIT(n) as Debezium and Flink CDC give them: the lowest byte first."""
    return value[::-1]


def _bytes(kind: MySqlType) -> Convert | None:
    if kind.name == "bit":
        return bits
    if kind.name in _BYTES:
        return bytes
    texts = kind.name in ("char", "varchar", "json", "enum") or kind.name.endswith("text")
    return str.encode if texts else None


def _text(kind: MySqlType, zone: ZoneInfo, binary: BinaryMode) -> Convert:
    name, encode = kind.name, _ENCODINGS[binary]
    if name == "bit":
        return lambda value: encode(bits(value))
    if name in _BYTES:
        return encode
    if name == "set":
        return ",".join
    if name == "time":
        return lambda value: _trimmed(time_text(value), kind)
    if name in ("datetime", "timestamp"):
        local = _local(name, zone)
        return lambda value: _trimmed(local(value).strftime("%Y-%m-%d %H:%M:%S.%f"), kind)
    if name == "decimal":
        return lambda value: format(value, "f")
    if name == "date":
        return date.isoformat
    return str


def _trimmed(text: str, kind: MySqlType) -> str:
    digits = kind.scale or 0
    return text[: len(text) - 6 + digits] if digits else text[:-7]


def _utf8(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        text = "bytes are no UTF-8; declare the column BYTES, or 'debezium.binary.handling.mode'"
        raise NoPlaceError(text) from None


_ENCODINGS: dict[BinaryMode, Convert] = {
    BinaryMode.BYTES: _utf8,
    BinaryMode.NONE: _utf8,
    BinaryMode.BASE64: lambda value: base64.b64encode(value).decode(),
    BinaryMode.BASE64_URL_SAFE: lambda value: base64.urlsafe_b64encode(value).decode(),
    BinaryMode.HEX: bytes.hex,
}


def _same(value: Any) -> Any:
    return value


def _of_bits(value: bytes) -> int:
    return int.from_bytes(value, "big")
