"""Comparisons, IN, BETWEEN and LIKE with Flink's semantics.

- Numbers are compared in their common type.
- A character string is cast to the type of the date or time that it is compared with, and is NULL
  if the cast fails.
- `<`, `<=`, `>`, `>=` and BETWEEN cast a character string to a number or BOOLEAN. A failing cast
  stops the query. `=` and `<>` do not cast, as in Flink, which cannot run them.
- NaN is unequal to everything, including itself, as in Java. Spark treats NaN as equal to NaN.
"""

from __future__ import annotations

from collections.abc import Sequence

from streamtable.core.errors import Condition, Span, StreamtableError
from streamtable.core.types import (
    APPROXIMATE,
    BIGINT,
    BOOLEAN,
    CHARACTER,
    NUMERIC,
    STRING,
    DataType,
    Root,
)
from streamtable.plan.binding.bound import Bound, derived, text_literal
from streamtable.plan.binding.cast_time import TEMPORAL
from streamtable.plan.binding.casts import explicit_cast, try_cast
from streamtable.plan.binding.coercion import common_numeric, common_type

#: Operator -> the comparison that is false for NaN (`b <> b`) or true for it (`b = b`), and the
#: side on which NaN must be handled. Spark orders NaN above all numbers.
_NAN_ANSWERS = {
    "=": ("<>", 0),
    "<>": ("=", 0),
    ">": ("<>", 0),
    ">=": ("<>", 0),
    "<": ("<>", 1),
    "<=": ("<>", 1),
}


_ORDERINGS = frozenset({"<", "<=", ">", ">="})


def compare(operator: str, left: Bound, right: Bound, at: Span | None) -> Bound:
    """Bind `left operator right` as a BOOLEAN.

    Raises:
        StreamtableError: ARGUMENT_MISMATCH for types that cannot be compared, NOT_YET for maps.
    """
    if operator in _ORDERINGS:
        left, right = _as_number(left, right), _as_number(right, left)
    a, b, kind = aligned(operator, left, right, at)
    if operator in _ORDERINGS:
        check_order(operator, (a, b), at)
    sql = f"({a.sql} {operator} {b.sql})"
    if kind.root in APPROXIMATE:
        sql = _nan_safe(operator, a, b, sql)
    nullable = left.type.nullable or right.type.nullable
    return derived(sql, BOOLEAN.with_nullable(nullable), (left, right)).located(at)


def _as_number(text: Bound, other: Bound) -> Bound:
    """Cast a character string for an order comparison with a number or BOOLEAN.

    Flink casts the string to the common type of the number and BIGINT. '1.9' therefore becomes 1
    when compared with an INT, and 1.90 when compared with a DECIMAL(3, 2).
    """
    if text.type.root not in CHARACTER:
        return text
    if other.type.root in NUMERIC:
        return explicit_cast(text, common_numeric(other.type, BIGINT, merging=True))
    return explicit_cast(text, BOOLEAN) if other.type.root is Root.BOOLEAN else text


def null_safe(left: Bound, right: Bound, at: Span | None, *, distinct: bool) -> Bound:
    """Bind `IS [NOT] DISTINCT FROM`: never NULL."""
    a, b, _ = aligned("IS DISTINCT FROM", left, right, at)
    sql = f"(NOT {a.sql} <=> {b.sql})" if distinct else f"({a.sql} <=> {b.sql})"
    return derived(sql, BOOLEAN.with_nullable(False), (left, right)).located(at)


def aligned(
    operator: str, left: Bound, right: Bound, at: Span | None
) -> tuple[Bound, Bound, DataType]:
    """Cast both operands to the type in which Flink compares them."""
    kind = _comparison_type(left.type, right.type)
    if kind is None:
        raise StreamtableError(
            Condition.ARGUMENT_MISMATCH,
            at=at,
            hint=_way_out(left.type, right.type),
            function=operator,
            expected="two values that compare",
            found=f"{left.type.sql()}, {right.type.sql()}",
        )
    if kind.holds(Root.MAP, Root.MULTISET):
        raise StreamtableError(Condition.NOT_YET, at=at, what=f"comparing values of {kind.sql()}")
    return _as(left, kind), _as(right, kind), kind


def check_order(clause: str, values: Sequence[Bound], at: Span | None) -> None:
    """Refuse values of BITMAP where their order matters.

    Raises:
        StreamtableError: ARGUMENT_MISMATCH.
    """
    if any(value.type.holds(Root.BITMAP) for value in values):
        raise StreamtableError(
            Condition.ARGUMENT_MISMATCH,
            at=at,
            function=clause,
            expected="values that have an order",
            found=", ".join(value.type.sql() for value in values),
        )


def _as(operand: Bound, kind: DataType) -> Bound:
    if operand.type.root in CHARACTER:
        if kind.root in CHARACTER:
            return operand
        # A constant that cannot be cast is an error. A column's value is just unequal.
        return explicit_cast(operand, kind) if operand.constant else try_cast(operand, kind)
    return explicit_cast(operand, kind)


def _comparison_type(left: DataType, right: DataType) -> DataType | None:
    for text, other in ((left, right), (right, left)):
        if text.root in CHARACTER and other.root in TEMPORAL:
            return other
    if left.root in NUMERIC and right.root in NUMERIC:
        return common_numeric(left, right, merging=True)
    return common_type((left, right))


def _way_out(left: DataType, right: DataType) -> str | None:
    if left.root in CHARACTER or right.root in CHARACTER:
        return "CAST one side to the type of the other"
    return None


def _nan_safe(operator: str, left: Bound, right: Bound, sql: str) -> str:
    answer, side = _NAN_ANSWERS[operator]
    suspect, other = (left, right) if side == 0 else (right, left)
    if suspect.constant is not None:
        return sql
    if other.constant is not None and operator in ("=", "<>"):
        return sql
    return f"if(isnan({suspect.sql}), {other.sql} {answer} {other.sql}, {sql})"


def between(value: Bound, low: Bound, high: Bound, at: Span | None, *, symmetric: bool) -> Bound:
    """Bind `value BETWEEN [SYMMETRIC] low AND high`."""
    forward = all_of((compare(">=", value, low, at), compare("<=", value, high, at)))
    if not symmetric:
        return forward.located(at)
    backward = all_of((compare(">=", value, high, at), compare("<=", value, low, at)))
    return any_of((forward, backward)).located(at)


def all_of(conditions: Sequence[Bound]) -> Bound:
    """Combine the conditions with AND."""
    return _joined("AND", conditions)


def any_of(conditions: Sequence[Bound]) -> Bound:
    """Combine the conditions with OR."""
    return _joined("OR", conditions)


def negation(condition: Bound) -> Bound:
    """Negate a condition; UNKNOWN stays UNKNOWN."""
    return derived(f"(NOT {condition.sql})", condition.type, (condition,))


def _joined(word: str, conditions: Sequence[Bound]) -> Bound:
    kind = BOOLEAN.with_nullable(any(condition.type.nullable for condition in conditions))
    sql = f" {word} ".join(condition.sql for condition in conditions)
    return derived(f"({sql})", kind, conditions)


def is_in(value: Bound, options: Sequence[Bound], at: Span | None) -> Bound:
    """Bind `value IN (options)`: NULL if there is no match and an option is NULL.

    Numbers and BOOLEANs are compared with character strings as text. If all options are character
    strings, they are cast to the value's number or BOOLEAN type.
    """
    options = _options(value.type, options)
    pairs = [aligned("IN", value, option, at) for option in options]
    kinds = {kind.with_nullable(True) for _, _, kind in pairs}
    nullable = value.type.nullable or any(option.type.nullable for option in options)
    kind = BOOLEAN.with_nullable(nullable)
    if len(kinds) == 1 and next(iter(kinds)).root not in APPROXIMATE:
        items = ", ".join(option.sql for _, option, _ in pairs)
        return derived(f"({pairs[0][0].sql} IN ({items}))", kind, (value, *options)).located(at)
    return any_of([compare("=", value, option, at) for option in options]).located(at)


def _options(value: DataType, options: Sequence[Bound]) -> Sequence[Bound]:
    """Cast the options of IN if either the value or the options are character strings."""
    texts = {option.type.root in CHARACTER for option in options}
    plain = NUMERIC | {Root.BOOLEAN}
    if value.root in CHARACTER and all(option.type.root in plain for option in options):
        return [explicit_cast(option, STRING) for option in options]
    if value.root in plain and texts == {True}:
        return [explicit_cast(option, value) for option in options]
    return options


def like(text: Bound, pattern: Bound, escape: Bound | None, at: Span | None) -> Bound:
    """Bind `text LIKE pattern [ESCAPE escape]`.

    Without ESCAPE, the backslash is the escape character. Constant patterns without `_` are an
    exception: in Flink, a backslash stands for itself in them.
    """
    given = (text, pattern, *((escape,) if escape is not None else ()))
    if any(operand.type.root not in CHARACTER | {Root.NULL} for operand in given):
        raise StreamtableError(
            Condition.ARGUMENT_MISMATCH,
            at=at,
            function="LIKE",
            expected="character strings",
            found=", ".join(operand.type.sql() for operand in given),
        )
    kind = BOOLEAN.with_nullable(text.type.nullable or pattern.type.nullable)
    wanted = pattern.sql
    character = _escape_character(escape) if escape is not None else None
    if pattern.constant == "":
        # Intended: in Flink, an empty pattern matches everything.
        wanted = "'%'"
    elif character is not None:
        wanted += f" ESCAPE {character}"
    elif isinstance(pattern.constant, str) and "_" not in pattern.constant:
        wanted = text_literal(pattern.constant.replace("\\", "\\\\"))
    return derived(f"({text.sql} LIKE {wanted})", kind, given).located(at)


def _escape_character(escape: Bound) -> str:
    if not isinstance(escape.constant, str) or len(escape.constant) != 1:
        raise StreamtableError(
            Condition.ARGUMENT_MISMATCH,
            at=escape.at,
            function="ESCAPE",
            expected="one character between quotes",
            found=escape.type.sql(),
        )
    return escape.sql
