"""GROUPING SETS, ROLLUP and CUBE -> each row once per set, then one aggregation of them all.

A row is repeated with the grouping expressions that its set lacks as NULL, and with the number of
the set, by which all are grouped too: the NULL of a set is not the NULL of a value.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product

from sqlglot import exp

from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.types import BIGINT, Field, quote
from streamtable.plan.aggregate import canonical, is_aggregate
from streamtable.plan.expand_node import Expand
from streamtable.plan.expressions import Binder, Input, InputField
from streamtable.plan.relation import Relation, unique_names, with_values
from streamtable.sql.nodes import FlinkCall
from streamtable.sql.place import place_of

#: What tells which grouping expressions a row's set lacks, one bit each, the last one lowest.
_CALLS = ("GROUPING", "GROUPING_ID", "GROUP_ID")
_SETS = (exp.GroupingSets, exp.Rollup, exp.Cube)
#: More sets than any one writes, and few enough to repeat every row for.
_MOST_SETS = 256


@dataclass(frozen=True)
class Expanded:
    """What `plan_aggregation` is to be asked for instead.

    Attributes:
        source: the rows, repeated.
        grouping: columns of theirs, the last one the number of the set.
        wanted: the expressions, over those columns.
    """

    source: Relation
    grouping: list[exp.Expr]
    wanted: list[exp.Expr]


def has_grouping_sets(group: exp.Group | None) -> bool:
    """Whether GROUP BY asks for more than one grouping."""
    return any(isinstance(node, _SETS) for node in (group.expressions if group else ()))


def expand_groups(group: exp.Group, wanted: Sequence[exp.Expr], source: Relation) -> Expanded:
    """Repeats the rows of a relation for each grouping.

    Args:
        group: GROUP BY; its items are combined, each grouping of one with each of the others.
        wanted: SELECT items and HAVING.
        source: the filtered input.

    Raises:
        StreamtableError: NOT_YET for a great many sets; ARGUMENT_MISMATCH for GROUPING of
            something that is not grouped by.
    """
    sets = [
        list(dict.fromkeys(node for part in combined for node in part))
        for combined in product(*(list(_sets(item, source)) for item in group.expressions))
    ]
    if len(sets) > _MOST_SETS:
        raise StreamtableError(
            Condition.NOT_YET,
            at=place_of(group),
            what=f"GROUP BY of {len(sets)} groupings (up to {_MOST_SETS} are)",
        )
    keys = list(dict.fromkeys(node for nodes in sets for node in nodes))
    canonical_wanted = [canonical(node, source) for node in wanted]
    calls = list(dict.fromkeys(c for node in canonical_wanted for c in _grouping_calls(node)))
    binder = Binder(Input(source.columns))
    below, names = with_values(source, [binder.bind(key) for key in keys], "group")
    types = {f.name: f.type.with_nullable(True) for f in below.node.fields}
    counted = BIGINT.with_nullable(False)
    taken = list(dict.fromkeys([*types, *(c.name for c in source.columns)]))
    asked = [*(f"{name}_or_all" for name in names), *(call.name.lower() for call in calls)]
    made_names = unique_names([*taken, *asked, "grouping_set"])[len(taken) :]
    kinds = [*(types[name] for name in names), *(counted for _ in calls), counted]
    made = tuple(Field(name, kind) for name, kind in zip(made_names, kinds, strict=True))
    rows = []
    for number, nodes in enumerate(sets):
        present = [key in nodes for key in keys]
        values = [
            quote(name) if there else f"CAST(NULL AS {types[name].spark_sql()})"
            for name, there in zip(names, present, strict=True)
        ]
        values += [f"{_bits(call, keys, nodes)}L" for call in calls] + [f"{number}L"]
        parts = ", ".join(f"'p{i}', {value}" for i, value in enumerate(values))
        rows.append(f"named_struct({parts})")
    expanded = Expand(
        below.node, f"array({', '.join(rows)})", frozenset(names), made, what="GroupingSets"
    )
    columns = tuple(InputField(None, f.name, f) for f in made)
    targets = dict(zip((*keys, *calls), made_names, strict=False))
    return Expanded(
        Relation(expanded, (*source.columns, *columns)),
        [_column(name) for name in made_names],
        [_replaced(node, targets) for node in canonical_wanted],
    )


def _sets(item: exp.Expr, source: Relation) -> Iterator[list[exp.Expr]]:
    """The groupings that one item of GROUP BY stands for."""
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
    """`(a, b)` is two expressions, `a` or `(a)` one."""
    if isinstance(node, exp.Tuple):
        return [canonical(part, source) for part in node.expressions]
    return [canonical(node.this if isinstance(node, exp.Paren) else node, source)]


def _grouping_calls(node: exp.Expr) -> Iterator[FlinkCall]:
    for part in node.walk(prune=is_aggregate):
        if isinstance(part, FlinkCall) and part.name in _CALLS:
            yield part


def _bits(call: FlinkCall, keys: Sequence[exp.Expr], present: Sequence[exp.Expr]) -> int:
    """One bit for each argument, set where the grouping lacks it; GROUP_ID has none."""
    bits = 0
    for argument in call.expressions:
        if argument not in keys:
            raise StreamtableError(
                Condition.ARGUMENT_MISMATCH,
                at=place_of(argument) or place_of(call),
                function=call.name,
                expected="expressions of GROUP BY",
                found=argument.sql(),
            )
        bits = 2 * bits + (argument not in present)
    return bits


def _replaced(node: exp.Expr, targets: dict[exp.Expr, str]) -> exp.Expr:
    """The expression over what was made; arguments of aggregates stay as they are."""
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
