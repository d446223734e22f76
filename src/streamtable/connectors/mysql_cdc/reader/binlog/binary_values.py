"""Decode values of a binlog: bytes of a row image -> Python values.

Source of the layouts: MySQL's *Binary Log Event* pages and `my_time.cc`, `decimal.cc`. The library
`mysql-replication` reads the events around the rows. This module reads the rows, because the
library drops trailing zero bytes of BINARY, the order of SET, and text that is not UTF-8.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

from pymysqlreplication.json_binary import parse_json

from streamtable.connectors.mysql_cdc.reader.model import Column, MySqlType
from streamtable.connectors.mysql_cdc.reader.values import geometry
from streamtable.connectors.mysql_cdc.reader.values.charsets import Report, decoder
from streamtable.connectors.mysql_cdc.reader.values.json_text import dump
from streamtable.connectors.mysql_cdc.reader.values.snapshot_values import EPOCH, zero_datetime
from streamtable.connectors.mysql_cdc.reader.values.types import BLOBS, SPATIAL, TEXTS

#: Reads a value at a position; returns the value and the next position.
Read = Callable[[bytes, int], tuple[Any, int]]

_START = datetime(1970, 1, 1, tzinfo=UTC)
#: Bytes for a number of decimal digits from 0 to 9; nine digits take four bytes.
_DIGIT_BYTES = (0, 1, 1, 2, 2, 3, 3, 4, 4, 4)
#: Bytes of a fraction of a second by its digits, and the microseconds of its unit.
_FRACTION_BYTES = (0, 1, 1, 2, 2, 3, 3)
_FRACTION_UNIT = (0, 10_000, 10_000, 100, 100, 1, 1)

_SIZED: dict[str, Callable[[bytes], Any]] = {
    **dict.fromkeys(SPATIAL, geometry.to_json),
    **dict.fromkeys(BLOBS, bytes),
    "varbinary": bytes,
}
_WIDTHS = {"tinyint": 1, "smallint": 2, "mediumint": 3, "int": 4, "bigint": 8}


def reader(column: Column, size: int, report: Report) -> Read:
    """Return the reader of a column in row images.

    Args:
        column: name, type and whether NULL is allowed.
        size: for text and bytes, the number of bytes of the length prefix; for ENUM, SET and BIT,
            the number of bytes of the value; for BINARY, the declared length.
        report: called for each text with bytes that are no character.

    Raises:
        KeyError: a binlog does not have this type.
    """
    kind, name = column.type, column.type.name
    if name in _WIDTHS:
        return _integer(_WIDTHS[name], signed=not kind.unsigned)
    if name in _SIZED:
        return _sized(size, _SIZED[name])
    if name == "json":
        return _sized(size, _json(nullable=column.nullable))
    if name in TEXTS or name in ("char", "varchar"):
        return _sized(size, decoder(kind.charset or "utf8mb4", report))
    if name in ("date", "datetime", "timestamp", "time"):
        return _temporal(column)
    return _other(kind, size)


def _temporal(column: Column) -> Read:
    zero = None if column.nullable else EPOCH
    digits = column.type.scale or 0
    match column.type.name:
        case "date":
            return _date(zero)
        case "datetime":
            return _datetime(digits, zero)
        case "timestamp":
            return _timestamp(digits, zero)
    return _time(digits)


def _other(kind: MySqlType, size: int) -> Read:
    match kind.name:
        case "float":
            return _unpacked("<f", 4)
        case "double":
            return _unpacked("<d", 8)
        case "decimal":
            return _decimal(kind.precision or 10, kind.scale or 0)
        case "year":
            return lambda data, at: (1900 + data[at] if data[at] else 0, at + 1)
        case "binary":
            return _padded(size)
        case "bit":
            return lambda data, at: (data[at : at + size], at + size)
        case "enum":
            members = ("", *kind.values)
            return lambda data, at: (members[_little(data, at, size)], at + size)
        case "set":
            return _set(kind.values, size)
    raise KeyError(kind.name)


def _little(data: bytes, at: int, size: int) -> int:
    return int.from_bytes(data[at : at + size], "little")


def _integer(width: int, *, signed: bool) -> Read:
    if width == 3:
        return lambda data, at: (
            int.from_bytes(data[at : at + 3], "little", signed=signed),
            at + 3,
        )
    code = {1: "b", 2: "h", 4: "i", 8: "q"}[width]
    return _unpacked("<" + (code if signed else code.upper()), width)


def _unpacked(code: str, width: int) -> Read:
    unpack = struct.Struct(code).unpack_from
    return lambda data, at: (unpack(data, at)[0], at + width)


def _sized(prefix: int, convert: Callable[[bytes], Any]) -> Read:
    if prefix == 1:

        def read_short(data: bytes, at: int) -> tuple[Any, int]:
            start = at + 1
            end = start + data[at]
            return convert(data[start:end]), end

        return read_short

    def read(data: bytes, at: int) -> tuple[Any, int]:
        start = at + prefix
        end = start + _little(data, at, prefix)
        return convert(data[start:end]), end

    return read


def _json(*, nullable: bool) -> Callable[[bytes], str | None]:
    """Return the parser of binary JSON.

    MySQL stores an empty value where a statement gives a NOT NULL column none; Debezium's rule.
    """
    empty = None if nullable else "{}"
    return lambda data: dump(parse_json(data[0], data[1:])) if data else empty


def _padded(length: int) -> Read:
    """Read BINARY and restore trailing zero bytes, which the binlog omits."""
    prefix = 1 if length <= 255 else 2

    def read(data: bytes, at: int) -> tuple[Any, int]:
        start = at + prefix
        end = start + _little(data, at, prefix)
        return data[start:end].ljust(length, b"\0"), end

    return read


def _set(members: tuple[str, ...], size: int) -> Read:
    def read(data: bytes, at: int) -> tuple[Any, int]:
        bits = _little(data, at, size)
        return tuple(m for i, m in enumerate(members) if bits >> i & 1), at + size

    return read


def _decimal(precision: int, scale: int) -> Read:
    """Read groups of nine digits in four bytes, highest first; negative numbers are inverted."""
    whole = precision - scale
    groups: list[tuple[int, int]] = []  # bytes and digits of each group
    if whole % 9:
        groups.append((_DIGIT_BYTES[whole % 9], whole % 9))
    groups += [(4, 9)] * (whole // 9 + scale // 9)
    if scale % 9:
        groups.append((_DIGIT_BYTES[scale % 9], scale % 9))
    size = sum(width for width, _ in groups)
    ones = (1 << 8 * size) - 1
    top = 1 << 8 * size - 1

    def read(data: bytes, at: int) -> tuple[Any, int]:
        raw = int.from_bytes(data[at : at + size], "big")
        negative = not raw & top
        raw ^= top
        if negative:
            raw ^= ones
        plain = raw.to_bytes(size, "big")
        number, place = 0, 0
        for width, digits in groups:
            part = int.from_bytes(plain[place : place + width], "big")
            number = number * 10**digits + part
            place += width
        text = str(number).rjust(scale + 1, "0")
        point = f"{text[:-scale]}.{text[-scale:]}" if scale else text
        return Decimal(f"-{point}" if negative else point), at + size

    return read


def _date(zero: date | None) -> Read:
    def read(data: bytes, at: int) -> tuple[Any, int]:
        bits = data[at] | data[at + 1] << 8 | data[at + 2] << 16
        try:
            return date(bits >> 9, bits >> 5 & 15, bits & 31), at + 3
        except ValueError:
            return zero, at + 3

    return read


def _datetime(digits: int, zero: date | None) -> Read:
    size, unit = _FRACTION_BYTES[digits], _FRACTION_UNIT[digits]
    nothing = zero_datetime(zero)

    def read(data: bytes, at: int) -> tuple[Any, int]:
        bits = int.from_bytes(data[at : at + 5], "big") - 0x8000000000
        end = at + 5 + size
        year, month = divmod(bits >> 22, 13)
        micros = int.from_bytes(data[at + 5 : end], "big") * unit
        time = bits >> 12 & 31, bits >> 6 & 63, bits & 63, micros
        try:
            return datetime(year, month, bits >> 17 & 31, *time), end
        except ValueError:
            return nothing, end

    return read


def _timestamp(digits: int, zero: date | None) -> Read:
    size, unit = _FRACTION_BYTES[digits], _FRACTION_UNIT[digits]
    nothing = None if zero is None else _START

    def read(data: bytes, at: int) -> tuple[Any, int]:
        seconds = int.from_bytes(data[at : at + 4], "big")
        end = at + 4 + size
        micros = int.from_bytes(data[at + 4 : end], "big") * unit
        if not seconds and not micros:
            return nothing, end  # 0000-00-00 00:00:00; the first second of 1970 is no TIMESTAMP
        return _START + timedelta(seconds=seconds, microseconds=micros), end

    return read


def _time(digits: int) -> Read:
    size, unit = _FRACTION_BYTES[digits], _FRACTION_UNIT[digits]
    width = 3 + size
    middle = 1 << 8 * width - 1
    steps = 1 << 8 * size

    def read(data: bytes, at: int) -> tuple[Any, int]:
        packed = int.from_bytes(data[at : at + width], "big") - middle
        sign, packed = (-1, -packed) if packed < 0 else (1, packed)
        whole, fraction = divmod(packed, steps)
        span = timedelta(
            hours=whole >> 12 & 1023,
            minutes=whole >> 6 & 63,
            seconds=whole & 63,
            microseconds=fraction * unit,
        )
        return span * sign, at + width

    return read
