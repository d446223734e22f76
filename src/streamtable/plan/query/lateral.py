"""Plan `LATERAL (SELECT ...)` in FROM: a join with the decorrelated query."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from streamtable.plan.binding.expressions import Binder, Input, InputField
from streamtable.plan.join.kind import JoinKind
from streamtable.plan.join.plan_join import apart, join_relations
from streamtable.plan.query.conditions import bind_part
from streamtable.plan.query.correlated import Untied, naming_outer_columns, not_yet, tied, untied
from streamtable.plan.query.relation import Relation, name_of, with_values
from streamtable.plan.query.subquery import Planner
from streamtable.sql.place import place_of


def plan_lateral(
    node: exp.Lateral,
    left: Relation,
    kind: JoinKind,
    on: Sequence[exp.Expr],
    planner: Planner,
    named: Callable[[Relation], Relation],
) -> Relation:
    """Join each row of a relation with the rows of a query that reads the row's columns.

    As in Flink, an aggregate over no rows gives no row in an inner join.

    Args:
        node: the query; it may read columns of `left`.
        left: the rows before the query in FROM.
        kind: inner or left.
        on: the parts of ON.
        planner: plans the query.
        named: applies the alias of the item to a relation and its columns.

    Raises:
        StreamtableError: NOT_YET for a query that cannot be decorrelated.
    """
    query = node.this.unnest()
    found = untied(query, planner)
    with naming_outer_columns(query, left.columns):
        inner = planner.plan(query if found is None else found.query)
    ties = [] if found is None else found.ties
    outer, inner = apart([left, inner])
    count = len(inner.columns) - len(ties)
    parts = tied(ties, outer, inner)
    rows = Relation(inner.node, inner.columns[:count])
    if found is not None and found.columns is not None:
        if on:
            raise not_yet(
                on[0],
                "a condition in ON beside a LATERAL query that aggregates",
                "join a subquery that groups by what ties the two",
            )
        joined = join_relations(outer, rows, kind, parts, place_of(node))
        return _with_items(query, found, joined, len(outer.columns), named)
    rows = named(rows)
    binder = Binder(Input((*outer.columns, *rows.columns)))
    parts += [bind_part(part, binder, "ON") for part in on]
    return join_relations(outer, rows, kind, parts, place_of(node))


def _with_items(
    query: exp.Select,
    found: Untied,
    joined: Relation,
    before: int,
    named: Callable[[Relation], Relation],
) -> Relation:
    """Return the items of an aggregating query over the columns of the join."""
    binder = Binder(Input(joined.columns))
    values = [binder.bind(value) for value in found.values]
    below, names = with_values(joined, values, "item")
    fields = {f.name: f for f in below.node.fields}
    items = tuple(
        InputField(None, name_of(item, i), fields[name])
        for i, (item, name) in enumerate(zip(query.expressions, names, strict=True))
    )
    shown = named(Relation(below.node, items))
    return Relation(below.node, (*joined.columns[:before], *shown.columns))
