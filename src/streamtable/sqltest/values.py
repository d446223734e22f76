"""Values of columns: from the text of a test file, and to Spark SQL.

A value is None, or a plain Python value that can be compared: str, bool, bytes, int, Decimal,
float, date, time, datetime (with the zone UTC for TIMESTAMP_LTZ), a tuple for ARRAY and ROW, and
`Entries` for MAP and MULTISET.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time, tzinfo
from decimal import Decimal, InvalidOperation
from typing import Any

from streamtable.core.errors import Span, closest
from streamtable.core.types import BYTES_ROOTS, CHARACTER, INT, DataType, Field, Root, quote
from streamtable.ingest.file.document import Listed, Mapped, Node, Text
from streamtable.plan.binding.bound import text_literal

_BITS = {Root.TINYINT: 8, Root.SMALLINT: 16, Root.INT: 32, Root.BIGINT: 64}
_WORDS = {"true": True, "false": False}
_BYTES = re.compile(r"(?:x'([0-9a-f]*)'|0x([0-9a-f]*))\Z", re.IGNORECASE)
#: Digits of a floating-point number that are compared, so that sums in any order are equal.
FLOAT_DIGITS = {Root.FLOAT: 6, Root.DOUBLE: 12}


class MisfitError(Exception):
    """A value that is not of its type; the text says what is expected and found."""

    def __init__(self, kind: DataType, found: str, at: Span) -> None:
        super().__init__(f"{kind}, {found}")
        self.at = at


class Entries(frozenset[tuple[Any, Any]]):
    """Pairs of key and value of a MAP, or of element and count of a MULTISET, in no order."""


def read_value(node: Node, kind: DataType, zone: tzinfo) -> Any:
    """Convert a value of a test file.

    Args:
        node: the value.
        kind: the type of the column.
        zone: time zone of TIMESTAMP_LTZ values without a zone.

    Raises:
        MisfitError: the value is not of the type.
    """
    if isinstance(node, Text) and node.text is None:
        if not kind.nullable:
            raise MisfitError(kind, "found null", node.at)
        return None
    match kind.root:
        case Root.ARRAY:
            items = _listed(node, kind)
            return tuple(read_value(item, _part(kind.element), zone) for item in items)
        case Root.ROW:
            return _read_row(node, kind, zone)
        case Root.MAP | Root.MULTISET:
            return _read_map(node, kind, zone)
    if not isinstance(node, Text) or node.text is None:
        raise MisfitError(
            kind, f"found a {'list' if isinstance(node, Listed) else 'mapping'}", node.at
        )
    try:
        return read_text(node.text, kind, zone)
    except (ValueError, InvalidOperation, binascii.Error) as error:
        more = f": {error}" if isinstance(error, _UnfitError) else ""
        raise MisfitError(kind, f"found '{node.text}'{more}", node.at) from None


class _UnfitError(ValueError):
    """A value outside its type's range, with a reason for the user."""


def read_text(text: str, kind: DataType, zone: tzinfo) -> Any:
    """Convert the text of a simple value; raises ValueError or InvalidOperation."""
    root = kind.root
    if root in CHARACTER:
        return text
    if root in _BITS:
        return _integer(text, _BITS[root])
    if root in BYTES_ROOTS:
        return _bytes(text)
    reader = _READERS.get(root)
    if reader is None:
        reason = "the type is not supported in test files"
        raise _UnfitError(reason)
    value = reader(text, kind)
    if root is Root.TIMESTAMP_LTZ:
        local = value if value.tzinfo else value.replace(tzinfo=zone)
        return local.astimezone(UTC)
    return value


def _integer(text: str, bits: int) -> int:
    number = int(text)
    if not -(1 << bits - 1) <= number < 1 << bits - 1:
        reason = "it is out of range"
        raise _UnfitError(reason)
    return number


def _bytes(text: str) -> bytes:
    found = _BYTES.match(text)
    if found is None:
        reason = "write hexadecimal digits, x'0aff'"
        raise _UnfitError(reason)
    return binascii.unhexlify(found[1] or found[2] or "")


def _boolean(text: str, _: DataType) -> bool:
    if text.lower() not in _WORDS:
        raise ValueError
    return _WORDS[text.lower()]


def _decimal(text: str, kind: DataType) -> Decimal:
    number = Decimal(text)
    precision, scale = kind.precision or 0, kind.scale or 0
    if not number.is_finite():
        raise ValueError
    _, digits, exponent = number.normalize().as_tuple()
    assert isinstance(exponent, int), "a finite number"  # noqa: S101
    if -exponent > scale or len(digits) + exponent > precision - scale:
        reason = f"it has more than {precision - scale} digits before or {scale} after the point"
        raise _UnfitError(reason)
    return number


def _float(text: str, kind: DataType) -> float:
    return rounded(float(text), kind)


def rounded(number: float, kind: DataType) -> float:
    """Round a FLOAT or DOUBLE to the digits that are compared."""
    return float(f"{number:.{FLOAT_DIGITS[kind.root]}g}")


def _moment(text: str, kind: DataType) -> datetime:
    found = datetime.fromisoformat(text)
    if kind.root is Root.TIMESTAMP and found.tzinfo:
        reason = "it has a time zone, which only TIMESTAMP_LTZ has"
        raise _UnfitError(reason)
    _check_digits(found.microsecond, kind)
    return found


def _time(text: str, kind: DataType) -> time:
    found = time.fromisoformat(text)
    _check_digits(found.microsecond, kind)
    return found


def _check_digits(micros: int, kind: DataType) -> None:
    digits = min(kind.precision or 0, 6)
    if micros % 10 ** (6 - digits):
        reason = f"it has more than {digits} digits after the second"
        raise _UnfitError(reason)


_READERS: Mapping[Root, Callable[[str, DataType], Any]] = {
    Root.BOOLEAN: _boolean,
    Root.DECIMAL: _decimal,
    Root.FLOAT: _float,
    Root.DOUBLE: _float,
    Root.DATE: lambda text, _: date.fromisoformat(text),
    Root.TIME: _time,
    Root.TIMESTAMP: _moment,
    Root.TIMESTAMP_LTZ: _moment,
}


def _read_row(node: Node, kind: DataType, zone: tzinfo) -> tuple[Any, ...]:
    """Convert a ROW: a mapping by the names of its fields, or a list in their order."""
    if isinstance(node, Mapped):
        names = [f.name for f in kind.fields]
        for name, (at, _) in node.items.items():
            if name not in names:
                near = closest(name, names)
                raise MisfitError(
                    kind, f"which has no field '{name}'{f': {near}' if near else ''}", at
                )
        return tuple(_field(node, field, zone) for field in kind.fields)
    items = _listed(node, kind)
    if len(items) != len(kind.fields):
        raise MisfitError(kind, f"found a list of {len(items)} values", node.at)
    pairs = zip(items, kind.fields, strict=True)
    return tuple(read_value(item, field.type, zone) for item, field in pairs)


def _field(node: Mapped, field: Field, zone: tzinfo) -> Any:
    _, value = node.items.get(field.name, (node.at, Text(None, node.at)))
    return read_value(value, field.type, zone)


def _read_map(node: Node, kind: DataType, zone: tzinfo) -> Entries:
    """Convert a MAP, or a MULTISET as a mapping of elements to counts."""
    if not isinstance(node, Mapped):
        raise MisfitError(
            kind, f"found a {'list' if isinstance(node, Listed) else 'text'}", node.at
        )
    key, value = entry_types(kind)
    return Entries(
        (read_value(Text(name, at), key, zone), read_value(item, value, zone))
        for name, (at, item) in node.items.items()
    )


def _listed(node: Node, kind: DataType) -> tuple[Node, ...]:
    if not isinstance(node, Listed):
        found = "a mapping" if isinstance(node, Mapped) else "a text"
        raise MisfitError(kind, f"found {found}", node.at)
    return node.items


def entry_types(kind: DataType) -> tuple[DataType, DataType]:
    """Return the types of key and value of a MAP, or of element and count of a MULTISET."""
    if kind.root is Root.MULTISET:
        return _part(kind.element), INT
    return _part(kind.key), _part(kind.element)


def _part(kind: DataType | None) -> DataType:
    assert kind is not None, "a constructed type has its parts"  # noqa: S101
    return kind


def sql_value(value: Any, kind: DataType) -> str:
    """Return Spark SQL of a value, in the type that Spark has for its column."""
    if value is None:
        return f"CAST(NULL AS {kind.spark_sql()})"
    match kind.root:
        case Root.ARRAY:
            return _sql_array(value, _part(kind.element))
        case Root.MAP | Root.MULTISET:
            key, element = entry_types(kind)
            pairs = sorted(value, key=repr)
            keys = _sql_array([k for k, _ in pairs], key)
            return f"map_from_arrays({keys}, {_sql_array([v for _, v in pairs], element)})"
        case Root.ROW:
            parts = zip(value, kind.fields, strict=True)
            items = (f"{sql_value(v, f.type)} AS {quote(f.name)}" for v, f in parts)
            return f"struct({', '.join(items)})"
        case Root.TIMESTAMP_LTZ:
            return f"CAST('{value.isoformat(sep=' ')}' AS TIMESTAMP_LTZ)"
        case root if root in BYTES_ROOTS:
            return f"X'{value.hex()}'"
        case root if root in CHARACTER:
            return text_literal(value)
    return f"CAST('{value}' AS {kind.spark_sql()})"


def _sql_array(values: Any, kind: DataType) -> str:
    items = ", ".join(sql_value(value, kind) for value in values)
    return f"CAST(array({items}) AS ARRAY<{kind.spark_sql()}>)"
