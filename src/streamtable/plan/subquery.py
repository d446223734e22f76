"""IN and EXISTS with a subquery in WHERE -> semi and anti joins.

The subquery's own conditions stay below the join; those that also read the outer query become the
join's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from sqlglot import exp

from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.types import BOOLEAN
from streamtable.plan.aggregate import has_aggregate
from streamtable.plan.binding.bound import derived
from streamtable.plan.binding.comparisons import compare
from streamtable.plan.conditions import Part, all_of, bind_part, conjuncts, equality
from streamtable.plan.expressions import Binder, Bound, Input, InputField
from streamtable.plan.join import apart, join_relations
from streamtable.plan.relation import Relation
from streamtable.plan.stateful_nodes import JoinKind
from streamtable.sql.place import place_of


class Planner(Protocol):
    """What plans the subquery itself."""

    def plan(self, query: exp.Expr) -> Relation:
        """A whole query."""

    def plan_from(self, query: exp.Select, where: list[exp.Expr]) -> Relation:
        """The rows of a query's FROM that these conditions leave."""

    def columns_of(self, query: exp.Select) -> tuple[InputField, ...]:
        """What names mean in a query's WHERE."""


@dataclass(frozen=True)
class Subquery:
    """A part of WHERE that asks for rows of another query.

    Attributes:
        node: the IN or EXISTS.
        query: the other query.
        values: what IN looks for; empty for EXISTS.
        negated: whether rows pass for which nothing is found.
    """

    node: exp.Expr
    query: exp.Expr
    values: Sequence[exp.Expr]
    negated: bool


def subquery_of(node: exp.Expr) -> Subquery | None:
    """The part of a condition as a `Subquery`, where it is one and nothing else."""
    negated = False
    while isinstance(node, exp.Not | exp.Paren):
        negated ^= isinstance(node, exp.Not)
        node = node.this
    if isinstance(node, exp.Exists):
        return Subquery(node, node.this.unnest(), [], negated)
    if isinstance(node, exp.In) and node.args.get("query") is not None:
        value = node.this
        values = value.expressions if isinstance(value, exp.Tuple) else [value]
        return Subquery(node, node.args["query"].unnest(), values, negated)
    return None


def plan_subquery(asked: Subquery, outer: Relation, planner: Planner) -> Relation:
    """The outer rows that pass.

    Raises:
        StreamtableError: COLUMN_COUNT_MISMATCH where IN compares unlike rows; whatever is wrong in
            the subquery.
    """
    inner, items, correlated = _plan_inner(asked, planner)
    outer, inner = apart([outer, inner])
    binder = Binder(Input(inner.columns))
    found = [binder.bind(item) for item in items] if items else _all(inner)
    wanted = [Binder(Input(outer.columns)).bind(value) for value in asked.values]
    parts: list[Part] = []
    if wanted:
        if len(wanted) != len(found):
            raise StreamtableError(
                Condition.COLUMN_COUNT_MISMATCH,
                at=place_of(asked.node),
                table="IN",
                expected=len(wanted),
                columns="",
                found=len(found),
            )
        parts = [
            equality(one, other, compare("=", one, other, place_of(asked.node)))
            for one, other in zip(wanted, found, strict=True)
        ]
        if asked.negated and any(value.type.nullable for value in (*wanted, *found)):
            parts = [_perhaps(parts)]
    both = Binder(Input((*inner.columns, *_not_shadowed(outer.columns, inner.columns))))
    parts += [bind_part(node, both, "WHERE") for node in correlated]
    kind = JoinKind.ANTI if asked.negated else JoinKind.SEMI
    return join_relations(outer, inner, kind, parts, place_of(asked.node))


def _plan_inner(
    asked: Subquery, planner: Planner
) -> tuple[Relation, list[exp.Expr], list[exp.Expr]]:
    """The subquery's rows, the expressions it selects (empty: all columns), what ties it."""
    query = asked.query
    if not isinstance(query, exp.Select) or _is_composed(query):
        return planner.plan(query), [], []
    where = query.args.get("where")
    columns = planner.columns_of(query)
    local: list[exp.Expr] = []
    correlated: list[exp.Expr] = []
    for node in conjuncts(where.this) if where else []:
        (local if _is_over(node, columns) else correlated).append(node)
    items = [] if not asked.values else [item.unalias() for item in query.expressions]
    if any(isinstance(item, exp.Star) for item in items):
        return planner.plan(query), [], []
    return planner.plan_from(query, local), items, correlated


def _is_composed(query: exp.Select) -> bool:
    """Whether the query does more than to choose rows."""
    clauses = ("group", "having", "order", "limit", "offset", "with_", "windows", "hint")
    return any(query.args.get(clause) for clause in clauses) or any(
        has_aggregate(item) for item in query.expressions
    )


def _is_over(node: exp.Expr, columns: Sequence[InputField]) -> bool:
    """Whether every name in a condition means one of these columns.

    A condition with a subquery of its own is taken for one over these columns: planned in turn, it
    says itself what it lacks.
    """
    if any(isinstance(part, exp.Query) for part in node.walk()):
        return True
    plain = {c.name for c in columns}
    qualified = {(c.qualifier, c.name) for c in columns}
    names = [[p.name for p in column.parts] for column in node.find_all(exp.Column)]
    return all(n[0] in plain or tuple(n[:2]) in qualified for n in names)


def _not_shadowed(
    outer: Sequence[InputField], inner: Sequence[InputField]
) -> tuple[InputField, ...]:
    """The outer columns as the subquery sees them: its own come first under the same name."""
    names = {c.name for c in inner} | {c.qualifier for c in inner}
    hidden = {c.qualifier for c in inner}
    return tuple(
        replace(c, merged=c.merged or c.name in names) for c in outer if c.qualifier not in hidden
    )


def _all(relation: Relation) -> list[Bound]:
    binder = Binder(Input(relation.columns))
    return [binder.bind(exp.column(c.name, quoted=True)) for c in relation.columns]


def _perhaps(parts: Sequence[Part]) -> Part:
    """Whether a row may be the one that NOT IN looks for: a NULL may be any value.

    With a NULL among its values NOT IN is true of no row, and never true of a NULL unless there is
    no value at all.
    """
    equal = all_of(parts)
    assert equal is not None, "IN looks for something"  # noqa: S101
    return Part(derived(f"(({equal.sql}) IS NOT FALSE)", BOOLEAN.with_nullable(False), (equal,)))
