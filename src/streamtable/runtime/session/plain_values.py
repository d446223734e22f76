"""Convert values of Python functions to builtin values of a declared type.

This module is pickled by value, because workers may lack the package: it imports only PySpark and
modules that are pickled with it.
"""

from __future__ import annotations

import datetime
import decimal
import numbers
from typing import Any

from pyspark.sql import types as t

from streamtable.common import Row
from streamtable.udaf import ListView, MapView

_LIST_VIEW = "LIST_VIEW"
_MAP_VIEW = "MAP_VIEW"
#: More digits than any DECIMAL has.
_DIGITS = 200


def plain_value(value: Any, kind: t.DataType, *, rounds: bool = False) -> Any:
    """Return a value of a type as builtin values, with tuples for rows.

    Numbers are converted as in PyFlink: a float that is an integer's value is truncated, and a bool
    is 0 or 1. A local time has the wall time of a value with a time zone.

    Args:
        value: the value of a function.
        kind: its declared type.
        rounds: whether a DECIMAL is rounded to the declared scale, half up as in Flink.

    Raises:
        TypeError: the value has another type.
        ValueError: a number does not fit, or a row has another number of values.
        OverflowError: an integer type with an infinite value.
    """
    if type(value).__module__ == "numpy":
        value = value.tolist()
    if value is None:
        return None
    if isinstance(kind, t.StructType):
        return _plain_row(value, kind, rounds)
    if isinstance(kind, t.ArrayType):
        if isinstance(value, ListView):
            return (_LIST_VIEW, [plain_value(v, kind.elementType, rounds=rounds) for v in value])
        _require(value, list | tuple)
        return [plain_value(item, kind.elementType, rounds=rounds) for item in value]
    if isinstance(kind, t.MapType):
        view = isinstance(value, MapView)
        if not view:
            _require(value, dict)
        entries = {
            plain_value(k, kind.keyType, rounds=rounds): plain_value(
                v, kind.valueType, rounds=rounds
            )
            for k, v in value.items()
        }
        return (_MAP_VIEW, entries) if view else entries
    if isinstance(kind, t.DecimalType):
        return _plain_decimal(value, kind, rounds)
    plain = _builtin(value, kind)
    t._make_type_verifier(kind)(plain)  # noqa: SLF001 - PySpark has no public way
    return plain


def _builtin(value: Any, kind: t.DataType) -> Any:
    """Return a single value as an object of a builtin class."""
    if isinstance(kind, t.BooleanType):
        _require(value, numbers.Integral)
        return bool(value)
    if isinstance(kind, t.IntegralType):
        _require(value, numbers.Real | decimal.Decimal)
        return int(value)
    if isinstance(kind, t.FractionalType):
        _require(value, numbers.Real | decimal.Decimal)
        return float(value)
    if isinstance(kind, t.StringType):
        _require(value, str)
        return str.__str__(value)
    if isinstance(kind, t.TimestampNTZType) and isinstance(value, datetime.datetime):
        value = value.replace(tzinfo=None)
    return bytes(value) if isinstance(value, bytearray) else _plain_moment(value)


def _plain_moment(value: Any) -> Any:
    """Return a value of a subclass, such as pandas.Timestamp, as one of the class of datetime."""
    if type(value).__module__ == "datetime":
        return value
    if isinstance(value, datetime.datetime):
        return datetime.datetime.combine(_plain_moment(value.date()), value.timetz())
    if isinstance(value, datetime.date):
        return datetime.date(value.year, value.month, value.day)
    if isinstance(value, datetime.timedelta):
        return datetime.timedelta(value.days, value.seconds, value.microseconds)
    return value


def _plain_decimal(value: Any, kind: t.DecimalType, rounds: bool) -> decimal.Decimal:
    _require(value, decimal.Decimal | int)
    found = decimal.Decimal(value)
    if not rounds:
        return found
    # Zero has the exponent of its text, so it is never out of range.
    fits = found.is_finite() and (not found or found.adjusted() < _DIGITS - kind.scale)
    if fits:
        unit = decimal.Decimal((0, (1,), -kind.scale))
        context = decimal.Context(prec=2 * _DIGITS, rounding=decimal.ROUND_HALF_UP)
        found = found.quantize(unit, context=context)
        fits = not found or found.adjusted() < kind.precision - kind.scale
    if not fits:
        message = f"{value} is out of range"
        raise ValueError(message)
    return found


def _plain_row(value: Any, kind: t.StructType, rounds: bool) -> tuple[Any, ...]:
    if isinstance(value, dict):
        value = tuple(value.get(name) for name in kind.names)
    _require(value, Row | tuple | list)
    if len(value) != len(kind.fields):
        message = f"a row has {len(value)} values, not {len(kind.fields)}"
        raise ValueError(message)
    return tuple(
        plain_value(v, f.dataType, rounds=rounds) for v, f in zip(value, kind.fields, strict=True)
    )


def _require(value: Any, types: Any) -> None:
    if not isinstance(value, types):
        message = f"{value!r} is a {type(value).__name__}"
        raise TypeError(message)
