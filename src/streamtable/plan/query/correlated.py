"""Decorrelate a subquery: rewrite it without columns of the outer query, plus join conditions.

`(SELECT MAX(v) FROM t WHERE t.k = o.k)` becomes `SELECT MAX(v), k FROM t GROUP BY k`, joined on
`o.k = k`. Expressions over aggregates are computed above the join. Without a match, a COUNT is
therefore 0 and `COALESCE(MAX(v), 0)` has its default value, as in Flink.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from sqlglot import exp

from streamtable.core.errors import Condition, StreamtableError
from streamtable.plan.aggregate.plan_aggregate import has_aggregate, is_aggregate
from streamtable.plan.binding.comparisons import compare
from streamtable.plan.binding.expressions import Binder, Input, InputField
from streamtable.plan.query.conditions import Part, conjuncts, equality
from streamtable.plan.query.correlated_rows import first_rows
from streamtable.plan.query.relation import Relation
from streamtable.plan.query.subquery import Planner, is_over
from streamtable.sql.nodes import FlinkCall
from streamtable.sql.place import place_of

#: Clauses that apply to all rows of a subquery, so that it cannot be decorrelated.
_WHOLE = ("offset", "with_", "windows", "qualify", "distinct")


@dataclass(frozen=True)
class Tie:
    """An equality between a subquery and the outer query.

    Attributes:
        outer: the side over the outer query.
        inner: the side over the subquery's FROM.
        node: the whole condition.
    """

    outer: exp.Expr
    inner: exp.Expr
    node: exp.Expr


@dataclass(frozen=True)
class Untied:
    """A decorrelated subquery.

    Attributes:
        query: selects the columns that `values` read, then the inner side of each tie.
        ties: the conditions of the join.
        values: the items of the subquery; over `columns` if the subquery aggregates, else as
            written.
        columns: names of the aggregates that `query` selects; None if it selects the items.
    """

    query: exp.Select
    ties: list[Tie]
    values: list[exp.Expr]
    columns: list[str] | None


def untied(query: exp.Expr, planner: Planner) -> Untied | None:
    """Decorrelate a subquery; None if its WHERE does not read the outer query.

    Raises:
        StreamtableError: NOT_YET for correlation other than by equalities, and for clauses that
            apply to all rows of the subquery.
    """
    if not isinstance(query, exp.Select) or query.args.get("from_") is None:
        return None
    where = query.args.get("where")
    if where is None or query.args.get("with_"):
        return None
    inner = planner.columns_of(query)
    parts = conjuncts(where.this)
    local = [node for node in parts if is_over(node, inner)]
    ties = [_tie(node, inner) for node in parts if not is_over(node, inner)]
    if not ties:
        return None
    found = next((query.args[c] for c in _WHOLE if query.args.get(c)), None)
    if found is not None:
        raise not_yet(
            found if isinstance(found, exp.Expr) else query,
            "DISTINCT, OFFSET, WINDOW or QUALIFY in a subquery that reads columns of the query"
            " around it",
        )
    limit = query.args.get("limit")
    if limit is not None:
        _check_rows(query, limit)
        sides = [_named(tie.inner, f"$tie{i}") for i, tie in enumerate(ties)]
        changed, items = first_rows(query, local, sides, inner, planner.stars)
        return Untied(changed, ties, items, None)
    return _without_ties(query, local, ties, inner)


def _check_rows(query: exp.Select, limit: exp.Expr) -> None:
    """Refuse LIMIT together with aggregates, which the ties would group first."""
    grouped = query.args.get("group") is not None or query.args.get("having") is not None
    if grouped or any(has_aggregate(item) for item in query.expressions):
        raise not_yet(
            limit,
            "LIMIT beside aggregates in a subquery that reads columns of the query around it",
            "group in a subquery in its FROM",
        )


#: Clauses of a subquery by the keys of sqlglot.
_CLAUSES = {
    "expressions": "SELECT",
    "from_": "FROM",
    "joins": "FROM",
    "group": "GROUP BY",
    "having": "HAVING",
    "order": "ORDER BY",
    "with_": "WITH",
}


@contextmanager
def naming_outer_columns(query: exp.Expr, outer: Sequence[InputField]) -> Iterator[None]:
    """Name the clause of a subquery that reads a column of the outer query, in place of an error.

    Args:
        query: the subquery that is planned in this block.
        outer: the columns of the outer query.

    Raises:
        StreamtableError: NOT_YET for a column that only the outer query has.
    """
    try:
        yield
    except StreamtableError as error:
        unknown = error.condition is Condition.UNKNOWN_COLUMN
        if not unknown or not _is_of(str(error.values["column"]), outer):
            raise
        raise StreamtableError(
            Condition.NOT_YET,
            at=error.at,
            what=f"a column of the outer query in {_place(query, error)}",
            hint="join the tables instead",
        ) from None


def _place(query: exp.Expr, error: StreamtableError) -> str:
    """Return in words what part of a subquery has the column of an error."""
    if isinstance(query, exp.SetOperation):
        return query.key.upper()
    for column in query.find_all(exp.Column):
        if place_of(column) != error.at:
            continue
        if column.find_ancestor(exp.Query) is not query:
            return "a subquery of a subquery"
        part: exp.Expr = column
        while part.parent is not None and part.parent is not query:
            part = part.parent
        if part.arg_key in _CLAUSES:
            return f"{_CLAUSES[part.arg_key]} of a subquery"
    return "a subquery with WITH" if query.args.get("with_") else "a subquery"


def _is_of(written: str, columns: Sequence[InputField]) -> bool:
    first, _, second = written.partition(".")
    return any(c.name == first or (c.qualifier, c.name) == (first, second) for c in columns)


def tied(ties: Sequence[Tie], outer: Relation, inner: Relation) -> list[Part]:
    """Return the join conditions between the outer query and the rows of `Untied.query`."""
    found = []
    columns = inner.columns[len(inner.columns) - len(ties) :]
    for tie, column in zip(ties, columns, strict=True):
        one = Binder(Input(outer.columns)).bind(tie.outer)
        other = Binder(Input((column,))).bind(exp.column(column.name, quoted=True))
        found.append(equality(one, other, compare("=", one, other, place_of(tie.node))))
    return found


def _without_ties(
    query: exp.Select, local: list[exp.Expr], ties: list[Tie], inner: Sequence[InputField]
) -> Untied:
    changed = query.copy()
    changed.set("where", exp.Where(this=exp.and_(*local)) if local else None)
    sides = [_named(tie.inner, f"$tie{i}") for i, tie in enumerate(ties)]
    group = query.args.get("group")
    if group is not None and not any(map(_groups, group.expressions)):
        group, aggregates = None, True
        changed.set("group", None)
    else:
        aggregates = group is None and any(has_aggregate(item) for item in query.expressions)
    if group is not None:
        grouping = group.copy()
        grouping.set("expressions", [*grouping.expressions, *(t.inner.copy() for t in ties)])
        changed.set("group", grouping)
    if not aggregates:
        if query.args.get("having") is not None and group is None:
            raise not_yet(query.args["having"], "HAVING in a subquery without aggregates")
        changed.set("expressions", [*changed.expressions, *sides])
        return Untied(changed, ties, query.expressions, None)
    if query.args.get("having") is not None:
        raise not_yet(
            query.args["having"], "HAVING in a subquery that reads columns of the query around it"
        )
    calls: dict[exp.Expr, str] = {}
    values = [_over_calls(item.unalias(), calls, inner) for item in query.expressions]
    changed.set("expressions", [*(_named(call, name) for call, name in calls.items()), *sides])
    changed.set("group", exp.Group(expressions=[tie.inner.copy() for tie in ties]))
    return Untied(changed, ties, values, list(calls.values()))


def _tie(node: exp.Expr, inner: Sequence[InputField]) -> Tie:
    if isinstance(node, exp.EQ):
        for one, other in ((node.this, node.expression), (node.expression, node.this)):
            if _reads(one) and is_over(one, inner) and not _reads_any(other, inner):
                return Tie(other, one, node)
    raise not_yet(
        node,
        "a subquery tied to the query around it by another condition than an equality",
        "join the table instead, and group the result",
    )


def _groups(item: exp.Expr) -> bool:
    """Return whether an item of GROUP BY is more than the empty list, which is one group."""
    return not isinstance(item, exp.Tuple) or any(map(_groups, item.expressions))


def _reads(node: exp.Expr) -> bool:
    return node.find(exp.Column) is not None


def _reads_any(node: exp.Expr, columns: Sequence[InputField]) -> bool:
    """Return whether an expression refers to one of these columns."""
    found = list(node.find_all(exp.Column))
    return bool(node.find(exp.Query)) or any(is_over(column, columns) for column in found)


def _named(node: exp.Expr, name: str) -> exp.Expr:
    return exp.alias_(node.copy(), name, quoted=True)


def _over_calls(
    item: exp.Expr, calls: dict[exp.Expr, str], inner: Sequence[InputField]
) -> exp.Expr:
    """Rewrite an item over the columns of its aggregates; add new aggregates to `calls`."""
    if is_aggregate(item):
        name = calls.setdefault(item, f"$agg{len(calls)}")
        column = exp.column(name, quoted=True)
        column.meta.update(item.meta)
        if item.name != "COUNT":
            return column
        zero = FlinkCall(this="COALESCE", expressions=[column, exp.Literal.number(0)])
        zero.meta.update(item.meta)
        return zero
    if isinstance(item, exp.Query):
        raise not_yet(item, "a subquery in a subquery that reads columns of the query around it")
    if isinstance(item, exp.Column) and is_over(item, inner):
        raise StreamtableError(
            Condition.NOT_GROUPED,
            at=place_of(item),
            column=item.name,
            hint=f"write MAX({item.name})",
        )
    copy = item.copy()
    for key, value in item.args.items():
        if isinstance(value, exp.Expr):
            copy.set(key, _over_calls(value, calls, inner))
        elif isinstance(value, list):
            parts = [_over_calls(v, calls, inner) if isinstance(v, exp.Expr) else v for v in value]
            copy.set(key, parts)
    return copy


def not_yet(node: exp.Expr, what: str, hint: str | None = None) -> StreamtableError:
    """Return the error for an unsupported subquery."""
    return StreamtableError(Condition.NOT_YET, at=place_of(node), what=what, hint=hint)
