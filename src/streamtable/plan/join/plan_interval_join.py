"""Plan interval joins: bounds between the event times of two inputs -> `IntervalJoin`.

A condition such as `l.ts BETWEEN r.ts - INTERVAL '1' HOUR AND r.ts` limits the time between two
matching rows. The join deletes a row when the watermark has passed this limit.

Source of the rules: Flink's *Joins in Continuous Queries* page, *Interval Joins*.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlglot import exp

from streamtable.core.errors import InternalError
from streamtable.core.types import Root
from streamtable.plan.join.interval_join import IntervalJoin
from streamtable.plan.join.join import Join
from streamtable.plan.join.kind import JoinKind
from streamtable.plan.node import Node
from streamtable.plan.query.conditions import Part
from streamtable.plan.query.relation import Relation
from streamtable.sql.nodes import IntervalLiteral

_MICROS_PER_MILLI = 1000
_MIRRORED: dict[type[exp.Expr], type[exp.Expr]] = {
    exp.GT: exp.LT,
    exp.GTE: exp.LTE,
    exp.LT: exp.GT,
    exp.LTE: exp.GTE,
}


@dataclass(frozen=True)
class Interval:
    """Minimum and maximum of the left row's time minus the right row's time, in milliseconds."""

    left: str
    right: str
    earliest: int
    latest: int

    def joined(self, node: Node) -> IntervalJoin:
        """Return the interval join of a join's inputs and keys."""
        if not isinstance(node, Join):
            msg = "an interval around anything but a join"
            raise InternalError(msg)
        return IntervalJoin(
            node.left,
            node.right,
            node.kind,
            node.keys,
            node.condition,
            node.condition_fields,
            self.left,
            self.right,
            self.earliest,
            self.latest,
        )


@dataclass(frozen=True)
class _Time:
    """Event time of one side plus an offset in milliseconds."""

    field: str
    left: bool
    moved: int


@dataclass(frozen=True)
class _Limit:
    """Lower or upper bound of `left field - right field`, in milliseconds."""

    left: str
    right: str
    millis: int
    least: bool


def interval(
    parts: Sequence[Part], left: Relation, right: Relation, kind: JoinKind
) -> tuple[Interval | None, list[Part]]:
    """Return the interval in the parts of a condition, and the other parts.

    The interval is None if the parts do not bound the times of append-only rows from both sides.
    The join is then a regular join, which keeps all rows.
    """
    appends = left.node.mode.is_append and right.node.mode.is_append
    if kind.left_only or not appends:
        return None, list(parts)
    limits = {id(part): list(_limits(part.node, left, right)) for part in parts}
    found = [limit for own in limits.values() for limit in own]
    rest = [part for part in parts if not limits[id(part)]]
    if len({(limit.left, limit.right) for limit in found}) != 1:
        return None, list(parts)
    least = [limit.millis for limit in found if limit.least]
    most = [limit.millis for limit in found if not limit.least]
    if not least or not most or max(least) > min(most):
        return None, list(parts)
    return Interval(found[0].left, found[0].right, max(least), min(most)), rest


def _limits(node: exp.Expr | None, left: Relation, right: Relation) -> Iterator[_Limit]:
    """Yield the bounds in a comparison of two event times; nothing for any other expression."""
    if isinstance(node, exp.Between) and not node.args.get("symmetric"):
        low = exp.GTE(this=node.this.copy(), expression=node.args["low"].copy())
        high = exp.LTE(this=node.this.copy(), expression=node.args["high"].copy())
        both = [*_limits(low, left, right), *_limits(high, left, right)]
        if len(both) == 2:
            yield from both
        return
    if node is None or type(node) not in _MIRRORED:
        return
    one, other = (_time(n, left, right) for n in (node.this, node.args["expression"]))
    if one is None or other is None or one.left == other.left:
        return
    operator = type(node)
    if not one.left:
        one, other, operator = other, one, _MIRRORED[operator]
    # one.field + one.moved <op> other.field + other.moved
    difference = other.moved - one.moved
    strict = int(operator is exp.GT) - int(operator is exp.LT)
    yield _Limit(one.field, other.field, difference + strict, operator in (exp.GT, exp.GTE))


def _time(node: exp.Expr, left: Relation, right: Relation) -> _Time | None:
    while isinstance(node, exp.Paren):
        node = node.this
    if isinstance(node, exp.Add | exp.Sub):
        literal = node.args["expression"]
        below = _time(node.this, left, right)
        if below is None or not isinstance(literal, IntervalLiteral):
            return None
        micros = int(literal.args["value"])
        plain = literal.args["to"].data_type.root is Root.INTERVAL_DAY_TIME
        if not plain or micros % _MICROS_PER_MILLI:
            return None
        sign = 1 if isinstance(node, exp.Add) else -1
        return _Time(below.field, below.left, below.moved + sign * micros // _MICROS_PER_MILLI)
    if not isinstance(node, exp.Column):
        return None
    names = [part.name for part in node.parts]
    for relation, is_left in ((left, True), (right, False)):
        for column in relation.columns:
            written = names in ([column.name], [column.qualifier, column.name])
            millis = column.field.type.precision is not None and column.field.type.precision <= 3
            if written and millis and relation.node.is_event_time(column.field.name):
                return _Time(column.field.name, is_left, 0)
    return None
