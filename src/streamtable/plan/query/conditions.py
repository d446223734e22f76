"""Split conditions at AND, and find the fields and the equalities of each part."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from sqlglot import exp

from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.types import APPROXIMATE, BOOLEAN, Root
from streamtable.plan.binding.bound import Bound, derived
from streamtable.plan.binding.comparisons import aligned
from streamtable.plan.binding.expressions import Binder
from streamtable.sql.place import place_of

#: Types that cannot be keys of state.
_NESTED = frozenset({Root.ARRAY, Root.MAP, Root.MULTISET, Root.ROW})


@dataclass(frozen=True)
class Part:
    """One part of a condition.

    Attributes:
        bound: the part as a BOOLEAN expression.
        sides: both operands, cast to one type, if the part is an equality.
        node: the unbound expression of the query, if the part is one.
    """

    bound: Bound
    sides: tuple[Bound, Bound] | None = None
    node: exp.Expr | None = None

    @cached_property
    def fields(self) -> frozenset[str]:
        """Fields that the part reads."""
        return self.bound.fields

    def across(self, left: frozenset[str], right: frozenset[str]) -> tuple[Bound, Bound] | None:
        """Return the operands over left and right fields, if the part equates both sides."""
        if self.sides is None:
            return None
        for one, other in (self.sides, self.sides[::-1]):
            if one.fields and other.fields and one.fields <= left and other.fields <= right:
                return one, other
        return None


def conjuncts(node: exp.Expr | None) -> list[exp.Expr]:
    """Split a condition at AND, in the order of the query; TRUE and 1 = 1 have no parts."""
    found: list[exp.Expr] = []
    rest = [node] if node is not None else []
    while rest:
        part = rest.pop()
        if isinstance(part, exp.And):
            rest.extend((part.args["expression"], part.this))
        elif isinstance(part, exp.Paren):
            rest.append(part.this)
        elif _is_equality_of_rows(part):
            pairs = zip(part.this.expressions, part.args["expression"].expressions, strict=True)
            rest.extend(reversed([_equal(part, one, other) for one, other in pairs]))
        elif not _is_true(part):
            found.append(part)
    return found


def _is_true(node: exp.Expr) -> bool:
    """Return whether a condition is TRUE, or compares a literal with itself."""
    if isinstance(node, exp.EQ):
        one, other = node.this, node.args["expression"]
        return isinstance(one, exp.Literal) and one == other
    return isinstance(node, exp.Boolean) and bool(node.this)


def _is_equality_of_rows(node: exp.Expr) -> bool:
    if not isinstance(node, exp.EQ):
        return False
    one, other = node.this, node.args["expression"]
    rows = isinstance(one, exp.Tuple) and isinstance(other, exp.Tuple)
    return rows and len(one.expressions) == len(other.expressions)


def _equal(whole: exp.Expr, one: exp.Expr, other: exp.Expr) -> exp.EQ:
    node = exp.EQ(this=one.copy(), expression=other.copy())
    node.meta.update(whole.meta)
    return node


def bind_condition(node: exp.Expr, binder: Binder, clause: str) -> Bound:
    """Bind a condition as a BOOLEAN.

    Raises:
        StreamtableError: ARGUMENT_MISMATCH for another type, or an error of binding.
    """
    bound = binder.bind(node)
    if bound.type.root not in (Root.BOOLEAN, Root.NULL):
        raise StreamtableError(
            Condition.ARGUMENT_MISMATCH,
            at=place_of(node),
            function=clause,
            expected=BOOLEAN,
            found=bound.type,
        )
    return bound


def bind_part(node: exp.Expr, binder: Binder, clause: str) -> Part:
    """Bind one of the `conjuncts` of a condition."""
    bound = bind_condition(node, binder, clause)
    if not isinstance(node, exp.EQ):
        return Part(bound, node=node)
    found = equality(binder.bind(node.this), binder.bind(node.args["expression"]), bound)
    return replace(found, node=node)


def equality(left: Bound, right: Bound, bound: Bound) -> Part:
    """Return the part for an equality of two values."""
    one, other, kind = aligned("=", left, right, bound.at)
    if kind.root in _NESTED:
        return Part(bound)
    if kind.root in APPROXIMATE:
        return Part(bound, (_comparable(one), _comparable(other)))
    return Part(bound, (one, other))


def all_of(parts: Sequence[Part]) -> Bound | None:
    """Combine parts with AND; None for no parts."""
    if not parts:
        return None
    operands = [part.bound for part in parts]
    kind = BOOLEAN.with_nullable(any(operand.type.nullable for operand in operands))
    return derived(" AND ".join(operand.sql for operand in operands), kind, operands)


def reads_only(parts: Iterable[Part], fields: frozenset[str]) -> tuple[list[Part], list[Part]]:
    """Split parts into those that read only these fields, and the others.

    Parts without fields and non-deterministic parts are among the others.
    """
    inside: list[Part] = []
    outside: list[Part] = []
    for part in parts:
        decided = part.fields and part.fields <= fields and part.bound.deterministic
        (inside if decided else outside).append(part)
    return inside, outside


def _comparable(value: Bound) -> Bound:
    """Normalize a number so that equal bytes mean equality by Flink's `=`: no NaN, one zero."""
    kind = value.type.with_nullable(True)
    sql = f"if(isnan({value.sql}), NULL, {value.sql} + CAST(0 AS {kind.spark_sql()}))"
    return derived(sql, kind, (value,))
