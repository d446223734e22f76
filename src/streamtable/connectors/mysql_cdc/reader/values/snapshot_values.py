"""Values of a snapshot: the server's text -> Python values; chunk keys as text and SQL.

A value from a snapshot and the same value from a binlog are equal in Python. `binary_values`
decodes the values of a binlog.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

from streamtable.connectors.mysql_cdc.reader.model import Column
from streamtable.connectors.mysql_cdc.reader.values import geometry
from streamtable.connectors.mysql_cdc.reader.values.charsets import decoder
from streamtable.connectors.mysql_cdc.reader.values.json_text import compact
from streamtable.connectors.mysql_cdc.reader.values.types import BLOBS, SPATIAL

Parse = Callable[[bytes], Any]

#: Replacement of a zero date in a NOT NULL column; Debezium's rule.
EPOCH = date(1970, 1, 1)
_INTEGERS = frozenset({"tinyint", "smallint", "mediumint", "int", "bigint", "year"})
_BYTES = frozenset({"binary", "varbinary", "bit", *BLOBS})
#: The server lets surrogates pass, which are no UTF-8.
_TEXT = decoder("utf8mb4")


def quoted(name: str) -> str:
    """Return an identifier in backticks."""
    return "`" + name.replace("`", "``") + "`"


def selected(column: Column) -> str:
    """Return the SELECT expression whose text contains the whole value.

    The server prints a FLOAT with six digits, and a DOUBLE with all digits.
    """
    name = quoted(column.name)
    return f"({name} + 0e0)" if column.type.name == "float" else name


def parser(column: Column) -> Parse:
    """Return the parser of the server's bytes for `selected`; never called for NULL."""
    name = column.type.name
    zero = None if column.nullable else EPOCH
    match name:
        case "date":
            return lambda text: _date(text, zero)
        case "datetime":
            return lambda text: _datetime(text, zero)
        case "timestamp":
            return lambda text: _timestamp(text, zero)
    return _PARSERS.get(name, _TEXT)


def single(number: float) -> float:
    """Round a number to the value that a FLOAT stores."""
    return float(struct.unpack("<f", struct.pack("<f", number))[0])


def zero_datetime(zero: date | None) -> datetime | None:
    """Return the replacement of a zero DATETIME."""
    return None if zero is None else datetime(zero.year, zero.month, zero.day)


def _date(text: bytes, zero: date | None) -> date | None:
    try:
        return date.fromisoformat(text.decode())
    except ValueError:
        return zero  # 0000-00-00, or a month or day of zero


def _datetime(text: bytes, zero: date | None) -> datetime | None:
    try:
        return datetime.fromisoformat(text.decode())
    except ValueError:
        return zero_datetime(zero)


def _timestamp(text: bytes, zero: date | None) -> datetime | None:
    found = _datetime(text, zero)
    return None if found is None else found.replace(tzinfo=UTC)


def _time(text: bytes) -> timedelta:
    plain = text.decode()
    hours, minutes, seconds = plain.lstrip("-").split(":")
    whole, _, fraction = seconds.partition(".")
    span = timedelta(
        hours=int(hours),
        minutes=int(minutes),
        seconds=int(whole),
        microseconds=int(fraction.ljust(6, "0") or 0),
    )
    return -span if plain.startswith("-") else span


def _set(text: bytes) -> tuple[str, ...]:
    return tuple(_TEXT(text).split(",")) if text else ()


_PARSERS: dict[str, Parse] = {
    **dict.fromkeys(_INTEGERS, int),
    **dict.fromkeys(_BYTES, bytes),
    **dict.fromkeys(SPATIAL, geometry.to_json),
    "decimal": lambda text: Decimal(text.decode()),
    "float": lambda text: single(float(text)),
    "double": float,
    "time": _time,
    "set": _set,
    "json": lambda text: compact(_TEXT(text)),
}


def literal(value: Any) -> str:
    """Return a key's value as SQL."""
    match value:
        case bool() | int() | Decimal():
            return str(value)
        case bytes():
            return f"X'{value.hex()}'"
        case datetime():
            return f"'{value.replace(tzinfo=None).isoformat(' ')}'"
        case date():
            return f"'{value.isoformat()}'"
        case timedelta():
            return f"'{time_text(value)}'"
        case str():
            return f"_utf8mb4 X'{value.encode().hex()}'"
    raise TypeError(type(value).__name__)


def time_text(value: timedelta) -> str:
    """Format a time as `-838:59:59.000000`."""
    micros = value // timedelta(microseconds=1)
    sign, micros = ("-", -micros) if micros < 0 else ("", micros)
    seconds, micros = divmod(micros, 1_000_000)
    return f"{sign}{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}.{micros:06d}"


def key_text(value: Any) -> str:
    """Return a key's value as text with its kind, for offsets: `i:5`, `s:abc`."""
    match value:
        case int():
            return f"i:{value}"
        case Decimal():
            return f"n:{value}"
        case bytes():
            return f"b:{value.hex()}"
        case datetime() if value.tzinfo is not None:
            return f"u:{value.replace(tzinfo=None).isoformat()}"
        case datetime():
            return f"t:{value.isoformat()}"
        case date():
            return f"d:{value.isoformat()}"
        case timedelta():
            return f"m:{value // timedelta(microseconds=1)}"
        case str():
            return f"s:{value}"
    raise TypeError(type(value).__name__)


_OF_TEXT: dict[str, Callable[[str], Any]] = {
    "i": int,
    "n": Decimal,
    "b": bytes.fromhex,
    "u": lambda text: datetime.fromisoformat(text).replace(tzinfo=UTC),
    "t": datetime.fromisoformat,
    "d": date.fromisoformat,
    "m": lambda text: timedelta(microseconds=int(text)),
    "s": str,
}


def key_of_text(text: str) -> Any:
    """Parse the text of `key_text`."""
    return _OF_TEXT[text[0]](text[2:])
