"""Plan scalar subqueries: a left join with the single row of the subquery."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeGuard

from sqlglot import exp

from streamtable.core.errors import Condition, StreamtableError
from streamtable.plan.join.kind import JoinKind
from streamtable.plan.join.plan_join import apart, join_relations
from streamtable.plan.keys import is_single
from streamtable.plan.query.correlated import naming_outer_columns, tied, untied
from streamtable.plan.query.relation import Relation
from streamtable.plan.query.subquery import Planner
from streamtable.sql.place import place_of

#: Qualifier of the columns that replace subqueries; no user alias begins like this.
_QUALIFIER = "$subquery"


def has_scalar(node: exp.Expr) -> bool:
    """Return whether an expression contains a scalar subquery."""
    return next(_scalars(node), None) is not None


def with_scalars(
    nodes: Sequence[exp.Expr], relation: Relation, planner: Planner
) -> tuple[list[exp.Expr], Relation]:
    """Replace scalar subqueries by columns; return the expressions and the joined relation.

    Without a row, the value is NULL, as in Flink. This includes COUNT over an empty input, which
    emits no row in a stream. A correlated COUNT is 0.

    Raises:
        StreamtableError: COLUMN_COUNT_MISMATCH for a subquery with several columns; NOT_YET for a
            subquery that may return several rows, or is correlated other than by equalities.
    """
    columns: dict[exp.Expr, exp.Expr] = {}
    for node in nodes:
        for found in _scalars(node):
            if found not in columns:
                name = str(sum(c.qualifier == _QUALIFIER for c in relation.columns))
                relation, columns[found] = _joined(found, relation, planner, name)
    return [_replaced(node, columns) for node in nodes], relation


def _scalars(node: exp.Expr) -> Iterator[exp.Subquery]:
    for part in node.walk(prune=lambda n: isinstance(n, exp.Query)):
        if is_scalar(part):
            yield part


def is_scalar(node: exp.Expr) -> TypeGuard[exp.Subquery]:
    """Return whether an expression is a scalar subquery."""
    compared = exp.In | exp.Exists | exp.Any | exp.All
    return isinstance(node, exp.Subquery) and not isinstance(node.parent, compared)


def _replaced(node: exp.Expr, columns: dict[exp.Expr, exp.Expr]) -> exp.Expr:
    def column_for(part: exp.Expr) -> exp.Expr:
        if part not in columns:
            return part
        column = columns[part].copy()
        column.meta.update(part.meta)
        return column

    return node.copy().transform(column_for) if columns else node


def _joined(
    node: exp.Subquery, relation: Relation, planner: Planner, name: str
) -> tuple[Relation, exp.Expr]:
    """Join a relation with the row of a subquery; return it with the subquery's value."""
    found = untied(node.this, planner)
    ties = [] if found is None else found.ties
    query = node.this if found is None else found.query
    with naming_outer_columns(query, relation.columns):
        inner = planner.plan(query)
    count = len(inner.columns) - len(ties)
    aggregates = None if found is None else found.columns
    wanted = count if found is None or aggregates is None else len(found.values)
    if wanted != 1:
        raise StreamtableError(
            Condition.COLUMN_COUNT_MISMATCH,
            at=place_of(node),
            table="a scalar subquery",
            expected=1,
            columns="",
            found=wanted,
        )
    if not is_single(inner.node, tuple(c.field.name for c in inner.columns[count:])):
        raise StreamtableError(
            Condition.NOT_YET,
            at=place_of(node),
            what="a scalar subquery that may return several rows",
            hint="aggregate it, as in SELECT MAX(...), or add LIMIT 1",
        )
    outer, inner = apart([relation, inner])
    parts = tied(ties, outer, inner)
    names = {c.name: f"{name}.{i}" for i, c in enumerate(inner.columns[:count])}
    columns = tuple(
        replace(c, qualifier=_QUALIFIER, name=names[c.name], merged=True)
        for c in inner.columns[:count]
    )
    joined = join_relations(
        outer, Relation(inner.node, columns), JoinKind.LEFT, parts, place_of(node)
    )
    if found is None or aggregates is None:
        return joined, exp.column(columns[0].name, table=_QUALIFIER, quoted=True)

    def qualified(part: exp.Expr) -> exp.Expr:
        if not isinstance(part, exp.Column) or part.name not in aggregates:
            return part
        return exp.column(names[part.name], table=_QUALIFIER, quoted=True)

    return joined, found.values[0].transform(qualified)
