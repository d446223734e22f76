"""`+ - * / %` and unary minus, with Flink's result types and overflow behavior.

Integers wrap on overflow. Spark's operators compute the result after both sides are cast to the
types that Flink uses. For a divisor that may be zero, exact division fails as in Java. DOUBLE and
FLOAT division give infinities and NaN, where Spark would return NULL.
"""

from __future__ import annotations

from collections.abc import Callable

from streamtable.core.errors import Condition, Span, StreamtableError
from streamtable.core.types import (
    APPROXIMATE,
    DOUBLE,
    INTERVALS,
    MAX_DECIMAL_PRECISION,
    NUMERIC,
    DataType,
    Root,
    as_decimal,
    decimal,
)
from streamtable.plan.binding.bound import Bound, derived, failing, text_literal
from streamtable.plan.binding.casts import explicit_cast
from streamtable.plan.binding.coercion import common_numeric, precision_of, scale_of
from streamtable.plan.binding.moments import interval_arithmetic, negated_interval

_WHAT = "two numbers, or a date or time with an interval"
#: Minimum fractional digits of a quotient, and of a result that exceeds the precision.
_MIN_SCALE = 6


def arithmetic(operator: str, left: Bound, right: Bound, at: Span | None) -> Bound:
    """Bind one of `+ - * / %` over two operands.

    Raises:
        StreamtableError: ARGUMENT_MISMATCH for unsupported operand types.
    """
    left, right = _typed_nulls(left, right)
    roots = {left.type.root, right.type.root}
    if roots & INTERVALS:
        moved = interval_arithmetic(operator, left, right)
        if moved is None:
            raise _mismatch(operator, left, right, at)
        return moved.located(at)
    if not roots <= NUMERIC or (operator == "%" and roots & set(APPROXIMATE)):
        raise _mismatch(operator, left, right, at)
    return _numeric(operator, left, right).located(at)


def negated(operand: Bound, at: Span | None) -> Bound:
    """Bind unary minus over a number or an interval."""
    if operand.type.root in INTERVALS:
        return negated_interval(operand).located(at)
    if operand.type.root not in NUMERIC:
        raise StreamtableError(
            Condition.ARGUMENT_MISMATCH,
            at=at,
            function="-",
            expected="a number or an interval",
            found=operand.type.sql(),
        )
    return derived(f"(-{operand.sql})", operand.type, (operand,)).located(at)


def _typed_nulls(left: Bound, right: Bound) -> tuple[Bound, Bound]:
    """Cast an untyped NULL to the type of the other side."""
    if left.type.root is Root.NULL and right.type.root is not Root.NULL:
        return explicit_cast(left, right.type), right
    if right.type.root is Root.NULL and left.type.root is not Root.NULL:
        return left, explicit_cast(right, left.type)
    return left, right


def _mismatch(operator: str, left: Bound, right: Bound, at: Span | None) -> StreamtableError:
    expected = "two integers or decimals" if operator == "%" else _WHAT
    return StreamtableError(
        Condition.ARGUMENT_MISMATCH,
        at=at,
        function=operator,
        expected=expected,
        found=f"{left.type.sql()}, {right.type.sql()}",
    )


def _numeric(operator: str, left: Bound, right: Bound) -> Bound:
    common = common_numeric(left.type, right.type)
    parts = (left, right)
    if common.root is Root.DECIMAL:
        kind = decimal_result(operator, left.type, right.type).with_nullable(common.nullable)
        a, b = (explicit_cast(part, as_decimal(part.type)).sql for part in parts)
        # The outer cast only fixes the type: Spark derives the same one.
        sql = f"CAST({a} {operator} {b} AS {kind.spark_sql()})"
        return derived(_zero_checked(operator, a, right, sql, kind), kind, parts)
    a, b = (explicit_cast(part, common).sql for part in parts)
    if operator in "+-*":
        return derived(f"({a} {operator} {b})", common, parts)
    if common.root in APPROXIMATE:
        return derived(_approximate_quotient(a, b, right, common), common, parts)
    if operator == "/":
        sql = f"CAST({a} div {b} AS {common.spark_sql()})"
        return derived(_zero_checked(operator, a, right, sql, common), common, parts)
    # Calcite gives MOD the type of its second operand, which bounds every remainder.
    kind = right.type.with_nullable(common.nullable)
    sql = f"CAST({a} % {b} AS {kind.spark_sql()})"
    return derived(_zero_checked(operator, a, right, sql, kind), kind, parts)


def _zero_checked(operator: str, left: str, right: Bound, sql: str, kind: DataType) -> str:
    if operator not in "/%" or right.constant not in (None, 0):
        return sql
    failure = failing(text_literal("division by zero"), kind)
    return f"if({right.sql} = 0 AND {left} IS NOT NULL, {failure}, {sql})"


def _approximate_quotient(left: str, right: str, divisor: Bound, kind: DataType) -> str:
    """Divide as Java does; power(0, -1) is the infinity with the sign of the zero."""
    quotient = f"({left} / {right})"
    if divisor.constant in (None, 0):
        quotient = f"if({right} = 0, {left} * power({right}, -1D), {left} / {right})"
    return quotient if kind.root is DOUBLE.root else f"CAST({quotient} AS FLOAT)"


def _sum_type(a: DataType, b: DataType) -> DataType:
    scale = max(scale_of(a), scale_of(b))
    whole = max(precision_of(a) - scale_of(a), precision_of(b) - scale_of(b))
    return _adjusted(whole + scale + 1, scale)


def _product_type(a: DataType, b: DataType) -> DataType:
    return _adjusted(precision_of(a) + precision_of(b) + 1, scale_of(a) + scale_of(b))


def _quotient_type(a: DataType, b: DataType) -> DataType:
    scale = max(_MIN_SCALE, scale_of(a) + precision_of(b) + 1)
    return _adjusted(precision_of(a) - scale_of(a) + scale_of(b) + scale, scale)


def _remainder_type(a: DataType, b: DataType) -> DataType:
    scale = max(scale_of(a), scale_of(b))
    return _adjusted(
        min(precision_of(a) - scale_of(a), precision_of(b) - scale_of(b)) + scale, scale
    )


_DECIMAL_RULES: dict[str, Callable[[DataType, DataType], DataType]] = {
    "+": _sum_type,
    "-": _sum_type,
    "*": _product_type,
    "/": _quotient_type,
    "%": _remainder_type,
}


def decimal_result(operator: str, left: DataType, right: DataType) -> DataType:
    """Return the DECIMAL result type over exact numbers: Flink's `LogicalTypeMerging`."""
    return _DECIMAL_RULES[operator](as_decimal(left), as_decimal(right))


def _adjusted(precision: int, scale: int) -> DataType:
    """Reduce the scale of a type with more than 38 digits, but not below six."""
    if precision <= MAX_DECIMAL_PRECISION:
        return decimal(precision, scale)
    kept = max(MAX_DECIMAL_PRECISION - (precision - scale), min(scale, _MIN_SCALE))
    return decimal(MAX_DECIMAL_PRECISION, kept)
