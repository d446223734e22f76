"""A subquery as a value -> a left join with its one row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sqlglot import exp

from streamtable.core.errors import Condition, StreamtableError
from streamtable.plan.expressions import InputField
from streamtable.plan.join import apart, join_relations
from streamtable.plan.keys import is_single
from streamtable.plan.relation import Relation
from streamtable.plan.stateful_nodes import JoinKind
from streamtable.plan.subquery import Planner
from streamtable.sql.place import place_of

#: Qualifier of the columns that stand for subqueries; no user's alias begins so.
_QUALIFIER = "$subquery"


def has_scalar(node: exp.Expr) -> bool:
    """Whether a subquery stands somewhere in an expression as a value."""
    return next(_scalars(node), None) is not None


def with_scalars(
    nodes: Sequence[exp.Expr], relation: Relation, planner: Planner
) -> tuple[list[exp.Expr], Relation]:
    """The expressions with a column in place of each subquery, and the relation that has it.

    Without a row the value is NULL, as in Flink: also that of a COUNT over nothing, which gives no
    row in a stream.

    Raises:
        StreamtableError: COLUMN_COUNT_MISMATCH for a subquery of several columns; NOT_YET for one
            that may give several rows or reads columns of the query around it.
    """
    columns: dict[exp.Expr, exp.Column] = {}
    for node in nodes:
        for found in _scalars(node):
            if found not in columns:
                name = str(sum(c.qualifier == _QUALIFIER for c in relation.columns))
                relation = _joined(found, relation, planner, name)
                columns[found] = exp.column(name, table=_QUALIFIER, quoted=True)
    return [_replaced(node, columns) for node in nodes], relation


def _scalars(node: exp.Expr) -> Iterator[exp.Subquery]:
    for part in node.walk(prune=lambda n: isinstance(n, exp.Query)):
        if isinstance(part, exp.Subquery) and not isinstance(part.parent, exp.In | exp.Exists):
            yield part


def _replaced(node: exp.Expr, columns: dict[exp.Expr, exp.Column]) -> exp.Expr:
    def column_for(part: exp.Expr) -> exp.Expr:
        if part not in columns:
            return part
        column = columns[part].copy()
        column.meta.update(part.meta)
        return column

    return node.copy().transform(column_for) if columns else node


def _joined(node: exp.Subquery, relation: Relation, planner: Planner, name: str) -> Relation:
    inner = _planned(node, relation, planner)
    if len(inner.columns) != 1:
        raise StreamtableError(
            Condition.COLUMN_COUNT_MISMATCH,
            at=place_of(node),
            table="a subquery as a value",
            expected=1,
            columns="",
            found=len(inner.columns),
        )
    if not is_single(inner.node, ()):
        raise StreamtableError(
            Condition.NOT_YET,
            at=place_of(node),
            what="a subquery as a value that may give several rows",
            hint="aggregate it, as in SELECT MAX(...), or end it in LIMIT 1",
        )
    outer, inner = apart([relation, inner])
    column = replace(inner.columns[0], qualifier=_QUALIFIER, name=name, merged=True)
    inner = Relation(inner.node, (column,))
    return join_relations(outer, inner, JoinKind.LEFT, [], place_of(node))


def _planned(node: exp.Subquery, around: Relation, planner: Planner) -> Relation:
    try:
        return planner.plan(node.this)
    except StreamtableError as error:
        unknown = error.condition is Condition.UNKNOWN_COLUMN
        if not unknown or not _is_of(str(error.values["column"]), around.columns):
            raise
        raise StreamtableError(
            Condition.NOT_YET,
            at=error.at,
            what="a subquery as a value that reads columns of the query around it",
            hint="join a subquery that groups by what ties the two",
        ) from None


def _is_of(written: str, columns: Sequence[InputField]) -> bool:
    first, _, second = written.partition(".")
    return any(c.name == first or (c.qualifier, c.name) == (first, second) for c in columns)
