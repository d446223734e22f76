"""Plan subqueries of IN, EXISTS, ANY and ALL in WHERE: semi joins and anti joins.

Conditions over the subquery alone stay below the join. Conditions that also read the outer query
become join conditions. A subquery that does more than filter rows is decorrelated first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.types import BOOLEAN
from streamtable.plan.aggregate.plan_aggregate import has_aggregate
from streamtable.plan.binding.bound import derived, is_unnamed
from streamtable.plan.binding.comparisons import compare
from streamtable.plan.binding.expressions import Binder, Input, InputField
from streamtable.plan.binding.names import input_field
from streamtable.plan.join.kind import JoinKind
from streamtable.plan.join.plan_join import apart, join_relations
from streamtable.plan.query.conditions import Part, all_of, bind_part, conjuncts, equality
from streamtable.plan.query.correlated import Tie, naming_outer_columns, not_yet, tied, untied
from streamtable.plan.query.relation import Relation
from streamtable.plan.query.subquery import Planner, Subquery, is_over
from streamtable.sql.place import place_of

#: Clauses that do more than filter rows.
_COMPOSING = frozenset(
    {"group", "having", "windows", "qualify", "order", "limit", "offset", "with_", "hint"}
)


@dataclass(frozen=True)
class _Inner:
    """The rows of a subquery.

    Attributes:
        rows: the rows; their last columns are the inner sides of `ties`.
        items: the selected expressions over them; empty for all columns except those of `ties`.
        correlated: join conditions over them and the outer query.
        ties: join conditions of a decorrelated subquery.
    """

    rows: Relation
    items: Sequence[exp.Expr] = ()
    correlated: Sequence[exp.Expr] = ()
    ties: Sequence[Tie] = ()


def plan_subquery(asked: Subquery, outer: Relation, planner: Planner) -> Relation:
    """Filter the outer rows by a subquery.

    Raises:
        StreamtableError: COLUMN_COUNT_MISMATCH if the operands of IN differ in length, or an error
            of the subquery.
    """
    with naming_outer_columns(asked.query, outer.columns):
        planned = _plan_inner(asked, outer.columns, planner)
        outer, inner = apart([outer, planned.rows])
        binder = Binder(Input(inner.columns))
        columns = inner.columns[: len(inner.columns) - len(planned.ties)]
        found = [binder.bind(item) for item in planned.items] or [*map(input_field, columns)]
    wanted = [Binder(Input(outer.columns)).bind(value) for value in asked.values]
    parts: list[Part] = []
    if wanted:
        if len(wanted) != len(found):
            raise StreamtableError(
                Condition.COLUMN_COUNT_MISMATCH,
                at=place_of(asked.node),
                table=_name(asked),
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
    parts += [bind_part(node, both, "WHERE") for node in planned.correlated]
    parts += tied(planned.ties, outer, inner)
    kind = JoinKind.ANTI if asked.negated else JoinKind.SEMI
    return join_relations(outer, inner, kind, parts, place_of(asked.node))


def _plan_inner(asked: Subquery, outer: Sequence[InputField], planner: Planner) -> _Inner:
    query = asked.query
    if not isinstance(query, exp.Select) or query.args.get("with_"):
        return _Inner(planner.plan(query))
    where = query.args.get("where")
    columns = planner.columns_of(query)
    local: list[exp.Expr] = []
    correlated: list[exp.Expr] = []
    for node in conjuncts(where.this) if where else []:
        (local if is_over(node, columns) else correlated).append(node)
    if _is_composed(query):
        known = all(is_over(node, (*columns, *outer)) for node in correlated)
        if not correlated or not known:
            return _Inner(planner.plan(query))
        if not _only_cuts(asked, query):
            return _composed(asked, query, planner)
    items = [] if not asked.values else [item.unalias() for item in query.expressions]
    if any(isinstance(item, exp.Star) for item in items):
        return _Inner(planner.plan(query))
    return _Inner(planner.plan_from(query, local), items, correlated)


def _only_cuts(asked: Subquery, query: exp.Select) -> bool:
    """Return whether the rows of EXISTS differ from those of WHERE only in order and number."""
    limit = query.args.get("limit")
    number = None if limit is None else limit.expression.name
    changed = {key for key in _COMPOSING if query.args.get(key)}
    aggregates = any(has_aggregate(item) for item in query.expressions)
    return not asked.values and changed <= {"order", "limit"} and number != "0" and not aggregates


def _composed(asked: Subquery, query: exp.Select, planner: Planner) -> _Inner:
    """Decorrelate a subquery that groups its rows or limits them."""
    found = untied(query, planner)
    if found is None:  # without FROM
        return _Inner(planner.plan(query))
    if found.columns is None:
        return _Inner(planner.plan(found.query), ties=found.ties)
    # Without rows the aggregates still have values, but no group of the decorrelated query.
    plain = all(isinstance(item, exp.Column) for item in found.values)
    if asked.negated or not asked.values or not plain:
        raise not_yet(
            asked.node,
            f"{_name(asked)} with aggregates and no GROUP BY in a subquery that reads columns of"
            " the query around it",
            "compare with the subquery, as in x = (SELECT MAX(...) ...)",
        )
    return _Inner(planner.plan(found.query), found.values, ties=found.ties)


def _name(asked: Subquery) -> str:
    if isinstance(asked.node, exp.In | exp.Exists):
        return "IN" if asked.values else "EXISTS"
    return "a comparison with ANY or ALL"


def _is_composed(query: exp.Select) -> bool:
    """Return whether the query does more than filter rows."""
    return any(query.args.get(clause) for clause in _COMPOSING) or any(
        has_aggregate(item) for item in query.expressions
    )


def _not_shadowed(
    outer: Sequence[InputField], inner: Sequence[InputField]
) -> tuple[InputField, ...]:
    """Return the outer columns that the subquery's own columns do not shadow."""
    names = {c.name for c in inner} | {c.qualifier for c in inner}
    hidden = {c.qualifier for c in inner}
    return tuple(
        replace(
            c,
            qualifier=None if is_unnamed(c.qualifier) else c.qualifier,
            merged=c.merged or c.name in names,
        )
        for c in outer
        if is_unnamed(c.qualifier) or c.qualifier not in hidden
    )


def _is(parts: Sequence[Part], truth: str) -> Part:
    """Return `(parts) IS truth`, such as the join condition of NOT IN: IS NOT FALSE.

    In NOT IN, a NULL may equal any value. If the subquery has a NULL, NOT IN is true for no row.
    For a NULL operand, NOT IN is true only if the subquery is empty.
    """
    found = all_of(parts)
    assert found is not None, "IN looks for something"  # noqa: S101
    return Part(derived(f"(({found.sql}) IS {truth})", BOOLEAN.with_nullable(False), (found,)))
