"""Plan subqueries of IN, EXISTS, ANY and ALL in WHERE: semi joins and anti joins.

Conditions over the subquery alone stay below the join. Conditions that also read the outer query
become join conditions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from sqlglot import exp

from streamtable.catalog.views import Stars
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.types import BOOLEAN
from streamtable.plan.aggregate.plan_aggregate import has_aggregate
from streamtable.plan.binding.bound import derived
from streamtable.plan.binding.comparisons import compare
from streamtable.plan.binding.expressions import Binder, Bound, Input, InputField
from streamtable.plan.join.kind import JoinKind
from streamtable.plan.join.plan_join import apart, join_relations
from streamtable.plan.query.conditions import Part, all_of, bind_part, conjuncts, equality
from streamtable.plan.query.relation import Relation
from streamtable.sql.place import place_of


class Planner(Protocol):
    """Planner of subqueries.

    Attributes:
        stars: takes the columns of each star in a SELECT.
    """

    @property
    def stars(self) -> Stars: ...  # noqa: D102 - an attribute

    def plan(self, query: exp.Expr) -> Relation:
        """Plan a whole query."""

    def plan_from(self, query: exp.Select, where: list[exp.Expr]) -> Relation:
        """Plan the rows of a query's FROM, filtered by these conditions."""

    def columns_of(self, query: exp.Select) -> tuple[InputField, ...]:
        """Return the columns that names in a query's WHERE can refer to."""


@dataclass(frozen=True)
class Subquery:
    """IN, EXISTS, ANY or ALL subquery in WHERE.

    Attributes:
        node: the expression.
        query: the subquery.
        values: left operands; empty for EXISTS.
        negated: whether rows without a match pass.
        operator: the comparison with the rows of the subquery.
        truth: what a row of the subquery must make of the comparison to be a match. IN and ANY look
            for TRUE. ALL passes if no row makes it other than TRUE, which is a negated search.
    """

    node: exp.Expr
    query: exp.Expr
    values: Sequence[exp.Expr]
    negated: bool
    operator: str = "="
    truth: str = "TRUE"


_OPERATORS: Mapping[type[exp.Expr], str] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.LT: "<",
    exp.LTE: "<=",
}


def subquery_of(node: exp.Expr) -> Subquery | None:
    """Return a part of WHERE as a `Subquery`; None if it is another expression."""
    negated = False
    while isinstance(node, exp.Not | exp.Paren):
        negated ^= isinstance(node, exp.Not)
        node = node.this
    if isinstance(node, exp.Exists):
        return Subquery(node, node.this.unnest(), [], negated)
    quantified = node.args.get("expression")
    if type(node) in _OPERATORS and isinstance(quantified, exp.Any | exp.All):
        every = isinstance(quantified, exp.All)
        # x > ALL q: no row makes it FALSE or NULL. NOT x > ALL q: some row makes it FALSE.
        truth = ("FALSE" if negated else "NOT TRUE") if every else "TRUE"
        query, operator = quantified.this.unnest(), _OPERATORS[type(node)]
        return Subquery(node, query, [node.this], negated ^ every, operator, truth)
    if isinstance(node, exp.In) and node.args.get("query") is not None:
        value = node.this
        values = value.expressions if isinstance(value, exp.Tuple) else [value]
        return Subquery(node, node.args["query"].unnest(), values, negated)
    return None


def plan_subquery(asked: Subquery, outer: Relation, planner: Planner) -> Relation:
    """Filter the outer rows by a subquery.

    Raises:
        StreamtableError: COLUMN_COUNT_MISMATCH if the operands of IN differ in length, or an error
            of the subquery.
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
                table="IN" if isinstance(asked.node, exp.In) else "a comparison with ANY or ALL",
                expected=len(wanted),
                columns="",
                found=len(found),
            )
        pairs = list(zip(wanted, found, strict=True))
        at = place_of(asked.node)
        compared = [compare(asked.operator, one, other, at) for one, other in pairs]
        if asked.operator == "=" and asked.truth == "TRUE":
            parts = [equality(*pair, bound) for pair, bound in zip(pairs, compared, strict=True)]
        else:
            parts = [Part(bound) for bound in compared]
        if asked.truth != "TRUE":
            parts = [_is(parts, asked.truth)]
        elif asked.negated and any(value.type.nullable for value in (*wanted, *found)):
            parts = [_is(parts, "NOT FALSE")]
    both = Binder(Input((*inner.columns, *_not_shadowed(outer.columns, inner.columns))))
    parts += [bind_part(node, both, "WHERE") for node in correlated]
    kind = JoinKind.ANTI if asked.negated else JoinKind.SEMI
    return join_relations(outer, inner, kind, parts, place_of(asked.node))


def _plan_inner(
    asked: Subquery, planner: Planner
) -> tuple[Relation, list[exp.Expr], list[exp.Expr]]:
    """Plan a subquery: its rows, its selected expressions (empty: all), its join conditions."""
    query = asked.query
    if not isinstance(query, exp.Select) or _is_composed(query):
        return planner.plan(query), [], []
    where = query.args.get("where")
    columns = planner.columns_of(query)
    local: list[exp.Expr] = []
    correlated: list[exp.Expr] = []
    for node in conjuncts(where.this) if where else []:
        (local if is_over(node, columns) else correlated).append(node)
    items = [] if not asked.values else [item.unalias() for item in query.expressions]
    if any(isinstance(item, exp.Star) for item in items):
        return planner.plan(query), [], []
    return planner.plan_from(query, local), items, correlated


def _is_composed(query: exp.Select) -> bool:
    """Return whether the query does more than filter rows."""
    clauses = ("group", "having", "order", "limit", "offset", "with_", "windows", "hint")
    return any(query.args.get(clause) for clause in clauses) or any(
        has_aggregate(item) for item in query.expressions
    )


def is_over(node: exp.Expr, columns: Sequence[InputField]) -> bool:
    """Return whether every name in a condition refers to one of these columns.

    A condition with a subquery counts as one over these columns. Planning the subquery then reports
    unknown columns.
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
    """Return the outer columns that the subquery's own columns do not shadow."""
    names = {c.name for c in inner} | {c.qualifier for c in inner}
    hidden = {c.qualifier for c in inner}
    return tuple(
        replace(c, merged=c.merged or c.name in names) for c in outer if c.qualifier not in hidden
    )


def _all(relation: Relation) -> list[Bound]:
    binder = Binder(Input(relation.columns))
    return [binder.bind(exp.column(c.name, quoted=True)) for c in relation.columns]


def _is(parts: Sequence[Part], truth: str) -> Part:
    """Return `(parts) IS truth`, such as the join condition of NOT IN: IS NOT FALSE.

    In NOT IN, a NULL may equal any value. If the subquery has a NULL, NOT IN is true for no row.
    For a NULL operand, NOT IN is true only if the subquery is empty.
    """
    found = all_of(parts)
    assert found is not None, "IN looks for something"  # noqa: S101
    return Part(derived(f"(({found.sql}) IS {truth})", BOOLEAN.with_nullable(False), (found,)))
