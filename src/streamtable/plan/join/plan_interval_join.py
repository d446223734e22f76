"""Plan interval joins: bounds between the event times of two inputs -> `IntervalJoin`.

A condition such as `l.ts BETWEEN r.ts - INTERVAL '1' HOUR AND r.ts` limits the time between two
matching rows. The join deletes a row when the watermark has passed this limit. An equality of two
event times is such a condition as well.

Source of the rules: Flink's *Joins in Continuous Queries* page, *Interval Joins*.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from streamtable.core.errors import Condition, InternalError, Span, StreamtableError
from streamtable.core.types import Root, quote
from streamtable.plan.binding.bound import Bound, InputField
from streamtable.plan.join.interval_join import IntervalJoin
from streamtable.plan.join.join import Join
from streamtable.plan.join.kind import JoinKind
from streamtable.plan.node import Node
from streamtable.plan.query.conditions import Part
from streamtable.plan.query.relation import Relation
from streamtable.plan.rank.numbering import with_numbering
from streamtable.plan.rules.tree import rebuilt
from streamtable.sql.nodes import IntervalLiteral

_MICROS_PER_MILLI = 1000
_MILLIS_PRECISION = 3
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
    """Time attribute of one side plus an offset in microseconds.

    Attributes:
        whole: whether the time has whole milliseconds.
        processing: whether it is the processing time.
    """

    field: str
    left: bool
    whole: bool
    processing: bool
    moved: int = 0


@dataclass(frozen=True)
class _Limit:
    """Lower or upper bound of `left field - right field`, in milliseconds.

    Attributes:
        exact: whether the bound is equivalent to the comparison; otherwise it is weaker.
        processing: whether it is a bound of processing times.
    """

    left: str
    right: str
    millis: int
    least: bool
    exact: bool
    processing: bool

    @property
    def pair(self) -> tuple[str, str]:
        """The two times."""
        return self.left, self.right


def interval(
    parts: Sequence[Part],
    pairs: Sequence[tuple[Bound, Bound]],
    left: Relation,
    right: Relation,
    kind: JoinKind,
    at: Span | None,
) -> tuple[Interval | None, list[Part]]:
    """Return the interval in a condition, and the parts that the join must still check.

    The interval is None if the condition does not bound the times of append-only rows from both
    sides. The join is then a regular join, which keeps all rows.

    Args:
        parts: the condition without the equalities between the inputs.
        pairs: these equalities.
        left: the left input.
        right: the right input.
        kind: join type.
        at: place of the join.

    Raises:
        StreamtableError: NOT_YET for an interval of processing times; TAKES_INSERTS_ONLY for an
            input whose own operator does not accept updates.
    """
    if kind.left_only:
        return None, list(parts)
    limits = {id(part): list(_limits(part.node, left, right)) for part in parts}
    compared = [limit for own in limits.values() for limit in own]
    equal = list(_equal_times(pairs, left, right))
    found = next(
        filter(None, (_bounded(compared, equal, processing=kind) for kind in (False, True))), None
    )
    if found is None:
        return None, list(parts)
    used, bounds = found
    if used[0].processing:
        raise StreamtableError(
            Condition.NOT_YET,
            at=at,
            what="an interval join by processing time",
            hint="declare a WATERMARK in each table, and join by these event times",
        )
    if not (_appends(left.node, at) and _appends(right.node, at)):
        return None, list(parts)
    replaced = {
        key
        for key, own in limits.items()
        if own and all(limit.exact and limit in used for limit in own)
    }
    rest = [part for part in parts if id(part) not in replaced]
    return bounds, rest


def _bounded(
    compared: Sequence[_Limit], equal: Sequence[_Limit], *, processing: bool
) -> tuple[list[_Limit], Interval] | None:
    """Return the limits of one pair of times of a kind, and their interval; None for no interval.

    Args:
        compared: the limits of comparisons, which must be of one pair.
        equal: the limits of equalities.
        processing: whether the times are processing times.
    """
    own = [limit for limit in compared if limit.processing is processing]
    other = [limit for limit in equal if limit.processing is processing]
    pairs = {limit.pair for limit in own or other[:1]}
    if len(pairs) != 1:
        return None
    used = [limit for limit in [*own, *other] if limit.pair in pairs]
    least = [limit.millis for limit in used if limit.least]
    most = [limit.millis for limit in used if not limit.least]
    if not least or not most or max(least) > min(most):
        return None
    return used, Interval(used[0].left, used[0].right, max(least), min(most))


def _appends(node: Node, at: Span | None) -> bool:
    """Return whether an input is append-only, once operators that wait have replaced others."""
    if node.mode.is_append:
        return True
    return rebuilt(with_numbering(node), lambda part: part.in_time(at)).mode.is_append


def _equal_times(
    pairs: Sequence[tuple[Bound, Bound]], left: Relation, right: Relation
) -> Iterator[_Limit]:
    """Yield both bounds of each equality of two time attributes."""
    times = {
        quote(column.field.name): _time_of(column, relation, left=relation is left)
        for relation in (left, right)
        for column in relation.columns
    }
    for one, other in ((times.get(a.sql), times.get(b.sql)) for a, b in pairs):
        if one is not None and other is not None and one.processing is other.processing:
            at_once = _Limit(one.field, other.field, 0, True, True, one.processing)
            yield from (at_once, replace(at_once, least=False))


def _limits(node: exp.Expr | None, left: Relation, right: Relation) -> Iterator[_Limit]:
    """Yield the bounds in a comparison of two times of a kind; nothing for other expressions."""
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
    if one.processing is not other.processing:
        return
    operator = type(node)
    if not one.left:
        one, other, operator = other, one, _MIRRORED[operator]
    # one.field + one.moved <op> other.field + other.moved
    micros = other.moved - one.moved
    least = operator in (exp.GT, exp.GTE)
    exact = one.whole and other.whole and micros % _MICROS_PER_MILLI == 0
    # The join compares times rounded down to milliseconds.
    millis = micros // _MICROS_PER_MILLI if least else -(-micros // _MICROS_PER_MILLI)
    if exact:
        millis += int(operator is exp.GT) - int(operator is exp.LT)
    yield _Limit(one.field, other.field, millis, least, exact, one.processing)


def _time(node: exp.Expr, left: Relation, right: Relation) -> _Time | None:
    while isinstance(node, exp.Paren):
        node = node.this
    if isinstance(node, exp.Add | exp.Sub):
        literal = node.args["expression"]
        below = _time(node.this, left, right)
        if below is None or not isinstance(literal, IntervalLiteral):
            return None
        if literal.args["to"].data_type.root is not Root.INTERVAL_DAY_TIME:
            return None
        sign = 1 if isinstance(node, exp.Add) else -1
        return replace(below, moved=below.moved + sign * int(literal.args["value"]))
    if not isinstance(node, exp.Column):
        return None
    names = [part.name for part in node.parts]
    for relation in (left, right):
        for column in relation.columns:
            if names in ([column.name], [column.qualifier, column.name]):
                found = _time_of(column, relation, left=relation is left)
                if found is not None:
                    return found
    return None


def _time_of(column: InputField, relation: Relation, *, left: bool) -> _Time | None:
    """Return the time attribute in a column; None for any other column."""
    name, kind = column.field.name, column.field.type
    processing = column.time_attribute == "proc"
    if not processing and not relation.node.is_event_time(name):
        return None
    whole = kind.precision is not None and kind.precision <= _MILLIS_PRECISION
    return _Time(name, left, whole, processing)
