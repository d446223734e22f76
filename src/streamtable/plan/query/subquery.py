"""Subqueries of IN, EXISTS, ANY and ALL in WHERE, and what plans them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from sqlglot import exp

from streamtable.catalog.views import Stars
from streamtable.plan.binding.expressions import InputField
from streamtable.plan.query.relation import Relation


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
