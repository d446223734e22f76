"""Bind constants: numbers, strings, bytes, dates, times and intervals."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

from sqlglot import exp

from streamtable.core.errors import Condition, Span, StreamtableError
from streamtable.core.types import (
    BIGINT,
    BOOLEAN,
    DOUBLE,
    INT,
    INTEGERS,
    MICROSECOND_DIGITS,
    NULL,
    DataType,
    Root,
    char,
    decimal,
    time,
)
from streamtable.plan.binding.bound import Bound, text_literal
from streamtable.plan.binding.coercion import precision_of
from streamtable.sql.nodes import IntervalLiteral, TemporalLiteral

_MAX_INT = 2**31 - 1
_MAX_BIGINT = 2**63 - 1


def literal(node: exp.Literal, at: Span | None, *, negative: bool = False) -> Bound:
    """Bind a number or a string; `negative` includes a minus, so that -2147483648 is an INT.

    Raises:
        StreamtableError: LITERAL_OUT_OF_RANGE for a number that fits no type.
    """
    if node.is_string:
        return string(str(node.this), at)
    text = str(node.this)
    try:
        number = Decimal(text)
    except InvalidOperation:
        raise _out_of_range(text, at) from None
    if negative:
        number = -number
    if "e" in text.lower():
        return _double(float(number), text, at)
    exponent = number.as_tuple().exponent
    digits = -exponent if isinstance(exponent, int) else 0
    if digits == 0:
        return _integer(int(number), text, at)
    return _decimal(number, digits, text, at)


def string(value: str, at: Span | None) -> Bound:
    """Bind a CHAR(n) constant; n is at least 1, as in Flink."""
    kind = char(len(value)).with_nullable(False)
    return Bound(text_literal(value), kind, constant=value, at=at)


def _double(value: float, text: str, at: Span | None) -> Bound:
    if abs(value) == float("inf"):
        raise _out_of_range(text, at)
    return Bound(_signed(f"{value!r}D"), DOUBLE.with_nullable(False), constant=value, at=at)


def _integer(value: int, text: str, at: Span | None) -> Bound:
    if -_MAX_INT - 1 <= value <= _MAX_INT:
        return Bound(_signed(str(value)), INT.with_nullable(False), constant=value, at=at)
    if -_MAX_BIGINT - 1 <= value <= _MAX_BIGINT:
        return Bound(_signed(f"{value}L"), BIGINT.with_nullable(False), constant=value, at=at)
    raise _out_of_range(text, at)


def _decimal(value: Decimal, scale: int, text: str, at: Span | None) -> Bound:
    unscaled = abs(int(value.scaleb(scale)))
    if unscaled > _MAX_BIGINT:
        raise _out_of_range(text, at)
    # Calcite counts the digits as written: 0.10 is a DECIMAL(3, 2).
    kind = decimal(sum(c.isdigit() for c in text), scale).with_nullable(False)
    sql = f"CAST('{value:f}' AS {kind.spark_sql()})"
    return Bound(sql, kind, constant=value, at=at)


def _signed(text: str) -> str:
    return f"({text})" if text.startswith("-") else text


def _out_of_range(text: str, at: Span | None) -> StreamtableError:
    return StreamtableError(Condition.LITERAL_OUT_OF_RANGE, at=at, found=text)


def boolean(value: bool, at: Span | None) -> Bound:
    """TRUE or FALSE."""
    kind = BOOLEAN.with_nullable(False)
    return Bound("true" if value else "false", kind, constant=value, at=at)


def null(at: Span | None) -> Bound:
    """NULL, which takes the type of the other operand."""
    return Bound("NULL", NULL, at=at)


def binary(node: exp.HexString, at: Span | None) -> Bound:
    """`X'1F'`."""
    digits = str(node.this)
    kind = DataType(Root.BINARY, nullable=False, precision=len(digits) // 2)
    return Bound(f"X'{digits}'", kind, at=at)


def temporal(node: TemporalLiteral, at: Span | None) -> Bound:
    """Bind `DATE '...'`, `TIME '...'` or `TIMESTAMP '...'`; TIME has whole seconds, as in Flink."""
    kind = node.args["to"].data_type.with_nullable(False)
    text = str(node.this)
    if kind.root is Root.TIME:
        kind, text = time(0).with_nullable(False), text.partition(".")[0]
    if kind.root is Root.TIMESTAMP and precision_of(kind) == 0:
        text = text.partition(".")[0]
    whole, point, fraction = text.partition(".")
    text = whole + point + fraction[:MICROSECOND_DIGITS]
    name = kind.spark_sql().partition("(")[0]
    sql = f"CAST('{text}' AS {kind.spark_sql()})" if name == "TIME" else f"{name}'{text}'"
    return Bound(sql, kind, at=at)


def interval(node: IntervalLiteral, at: Span | None) -> Bound:
    """Bind an interval; a DAY TO SECOND interval has whole milliseconds, as in Flink."""
    kind = node.args["to"].data_type.with_nullable(False)
    value = int(node.args["value"])
    if kind.root is Root.INTERVAL_YEAR_MONTH:
        return Bound(f"make_ym_interval(0, {value})", kind, constant=value, at=at)
    millis = abs(value) // 1000 * (1 if value >= 0 else -1)
    days, rest = divmod(abs(millis), 86_400_000)
    sign = "-" if millis < 0 else ""
    hours, rest = divmod(rest, 3_600_000)
    minutes, rest = divmod(rest, 60_000)
    clock = f"{hours:02}:{minutes:02}:{rest // 1000:02}.{rest % 1000:03}"
    sql = f"INTERVAL {sign}'{days} {clock}' DAY TO SECOND"
    return Bound(_signed(sql) if sign else sql, kind, constant=millis * 1000, at=at)


def constant_number(node: exp.Expr) -> str | None:
    """Return the number of a literal or of a constant expression such as `CAST(2 AS INT)`.

    A literal is returned as it is written. None for other expressions; Flink computes those that
    read no columns.
    """
    if isinstance(node, exp.Literal):
        return None if node.is_string else node.name
    value = _constant(node)
    return None if value is None else f"{value:f}"


def _constant(node: exp.Expr) -> Decimal | None:
    match node:
        case exp.Literal():
            try:
                return None if node.is_string else Decimal(node.name)
            except InvalidOperation:
                return None
        case exp.Paren():
            return _constant(node.this)
        case exp.Neg():
            value = _constant(node.this)
            return None if value is None else -value
        case exp.Cast():
            value = _constant(node.this)
            return None if value is None else _cast_constant(value, node.args["to"].this)
        case exp.Add() | exp.Sub() | exp.Mul():
            left, right = _constant(node.left), _constant(node.right)
            if left is None or right is None:
                return None
            if isinstance(node, exp.Mul):
                return left * right
            return left + right if isinstance(node, exp.Add) else left - right
        case _:
            return None


def _cast_constant(value: Decimal, kind: DataType) -> Decimal | None:
    """Return the value as a whole number or a DOUBLE; None for other types."""
    if kind.root in INTEGERS:
        return Decimal(int(value))
    return value if kind.root is Root.DOUBLE else None
