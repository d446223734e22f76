"""GROUPING SETS, ROLLUP and CUBE: replicate each row once per set, then aggregate once.

A copy of a row has NULL for the grouping expressions that its set lacks. It also has the number of
the set as a further grouping column, so that the NULL of a set differs from a NULL value.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product

from sqlglot import exp

from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.types import BIGINT, Field, quote
from streamtable.plan.aggregate.plan_aggregate import canonical, is_aggregate
from streamtable.plan.binding.expressions import Binder, Input, InputField
from streamtable.plan.query.relation import Relation, unique_names, with_values
from streamtable.plan.rows.expand import Expand
from streamtable.sql.dialect import flink_sql
from streamtable.sql.nodes import FlinkCall, FlinkType
from streamtable.sql.place import place_of

#: Functions that show which grouping expressions a set lacks: one bit each, the last one lowest.
_CALLS = ("GROUPING", "GROUPING_ID", "GROUP_ID")
_SETS = (exp.GroupingSets, exp.Rollup, exp.Cube)
#: Maximum number of sets: more than a query needs, and few enough to replicate each row.
_MOST_SETS = 256


@dataclass(frozen=True)
class Expanded:
    """Replacement input of `plan_aggregation`.

    Attributes:
        source: the replicated rows.
        grouping: grouping columns of `source`; the last one is the number of the set.
        wanted: the expressions, over the columns of `source`.
    """

    source: Relation
    grouping: list[exp.Expr]
    wanted: list[exp.Expr]


def has_grouping_sets(group: exp.Group | None) -> bool:
    """Return whether GROUP BY has more than one grouping set."""
    return any(isinstance(node, _SETS) for node in (group.expressions if group else ()))


def expand_groups(group: exp.Group, wanted: Sequence[exp.Expr], source: Relation) -> Expanded:
    """Replicate the rows of a relation for each grouping set.

    Args:
        group: GROUP BY; the result is the cross product of the sets of its items.
        wanted: SELECT items and HAVING.
        source: the filtered input.

    Raises:
        StreamtableError: NOT_YET for too many sets; ARGUMENT_MISMATCH for GROUPING of an expression
            that is not in GROUP BY.
    """
    sets = [
        list(dict.fromkeys(node for part in combined for node in part))
        for combined in product(*(list(_sets(item, source)) for item in group.expressions))
    ]
    if len(sets) > _MOST_SETS:
        raise StreamtableError(
            Condition.NOT_YET,
            at=place_of(group),
            what=f"GROUP BY of {len(sets)} groupings (supported: up to {_MOST_SETS})",
        )
    keys = list(dict.fromkeys(node for nodes in sets for node in nodes))
    canonical_wanted = [canonical(node, source) for node in wanted]
    calls = list(dict.fromkeys(c for node in canonical_wanted for c in _grouping_calls(node)))
    binder = Binder(Input(source.columns))
    below, names = with_values(source, [binder.bind(key) for key in keys], "group")
    fields = {f.name: f for f in below.node.fields}
    # Expressions in every set stay unchanged, so that window bounds are still recognized.
    some = [i for i, key in enumerate(keys) if not all(key in nodes for nodes in sets)]
    counted = BIGINT.with_nullable(False)
    taken = list(dict.fromkeys([*fields, *(c.name for c in source.columns)]))
    asked = [f"{name}_or_all" if i in some else name for i, name in enumerate(names)]
    asked += [call.name.lower() for call in calls]
    made_names = unique_names([*taken, *asked, "grouping_set"])[len(taken) :]
    own = [fields[name] for name in names]
    for i in some:
        own[i] = Field(made_names[i], own[i].type.with_nullable(True))
    made = [own[i] for i in some]
    made += [Field(name, counted) for name in made_names[len(keys) :]]
    rows = []
    for number, nodes in enumerate(sets):
        values = [
            quote(names[i]) if keys[i] in nodes else f"CAST(NULL AS {own[i].type.spark_sql()})"
            for i in some
        ]
        values += [f"{_bits(call, keys, nodes)}L" for call in calls] + [f"{number}L"]
        parts = ", ".join(f"'p{i}', {value}" for i, value in enumerate(values))
        rows.append(f"named_struct({parts})")
    reads = frozenset(names[i] for i in some)
    expanded = Expand(
        below.node, f"array({', '.join(rows)})", reads, tuple(made), what="GroupingSets"
    )
    columns = [
        InputField(None, name, field)
        for name, field in zip(made_names, [*own, *made[len(some) :]], strict=True)
    ]
    targets = dict(zip((*keys, *calls), made_names, strict=False))
    return Expanded(
        Relation(expanded, (*source.columns, *columns)),
        [_column(name) for name in made_names],
        [_replaced(node, targets) for node in canonical_wanted],
    )


def without_grouping_calls(
    grouping: Sequence[exp.Expr], wanted: Sequence[exp.Expr], source: Relation
) -> list[exp.Expr]:
    """Replace GROUPING and similar calls by 0, for a single grouping set.

    Raises:
        StreamtableError: ARGUMENT_MISMATCH for GROUPING of an expression that is not in GROUP BY.
    """
    keys = [canonical(node, source) for node in grouping]
    found = []
    for node in wanted:
        calls = list(_grouping_calls(canonical(node, source)))
        for call in calls:
            _bits(call, keys, keys)
        found.append(node.copy().transform(_as_zero) if calls else node)
    return found


def _as_zero(node: exp.Expr) -> exp.Expr:
    if not isinstance(node, FlinkCall) or node.name not in _CALLS:
        return node
    zero = exp.Cast(this=exp.Literal.number(0), to=FlinkType(this=BIGINT))
    zero.meta.update(node.meta)
    return zero


def _sets(item: exp.Expr, source: Relation) -> Iterator[list[exp.Expr]]:
    """Yield the grouping sets of one item of GROUP BY."""
    match item:
        case exp.GroupingSets():
            for inner in item.expressions:
                yield from _sets(inner, source)
        case exp.Rollup():
            parts = [_parts(node, source) for node in item.expressions]
            for length in range(len(parts), -1, -1):
                yield [node for part in parts[:length] for node in part]
        case exp.Cube():
            parts = [_parts(node, source) for node in item.expressions]
            for length in range(len(parts), -1, -1):
                for chosen in combinations(parts, length):
                    yield [node for part in chosen for node in part]
        case _:
            yield _parts(item, source)


def _parts(node: exp.Expr, source: Relation) -> list[exp.Expr]:
    """Split `(a, b)` into two expressions; `a` and `(a)` are one expression."""
    if isinstance(node, exp.Tuple):
        return [canonical(part, source) for part in node.expressions]
    return [canonical(node.this if isinstance(node, exp.Paren) else node, source)]


def _grouping_calls(node: exp.Expr) -> Iterator[FlinkCall]:
    for part in node.walk(prune=is_aggregate):
        if isinstance(part, FlinkCall) and part.name in _CALLS:
            yield part


def _bits(call: FlinkCall, keys: Sequence[exp.Expr], present: Sequence[exp.Expr]) -> int:
    """Return one bit per argument, set if the grouping set lacks it; GROUP_ID has no arguments."""
    bits = 0
    for argument in call.expressions:
        if argument not in keys:
            raise StreamtableError(
                Condition.ARGUMENT_MISMATCH,
                at=place_of(argument) or place_of(call),
                function=call.name,
                expected="expressions of GROUP BY",
                found=flink_sql(argument),
            )
        bits = 2 * bits + (argument not in present)
    return bits


def _replaced(node: exp.Expr, targets: dict[exp.Expr, str]) -> exp.Expr:
    """Replace expressions by the given columns; arguments of aggregates are not changed."""
    if node in targets:
        column = _column(targets[node])
        column.meta.update(node.meta)
        return column
    if is_aggregate(node):
        return node.copy()
    copy = node.copy()
    for key, value in node.args.items():
        if isinstance(value, exp.Expr):
            copy.set(key, _replaced(value, targets))
        elif isinstance(value, list):
            copy.set(key, [_replaced(v, targets) if isinstance(v, exp.Expr) else v for v in value])
    return copy


def _column(name: str) -> exp.Column:
    return exp.column(name, quoted=True)
