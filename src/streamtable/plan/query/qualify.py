"""QUALIFY: filter the rows of a SELECT block by its OVER calls.

`SELECT k FROM t QUALIFY ROW_NUMBER() OVER (PARTITION BY g ORDER BY v) = 1` is planned as
`SELECT k FROM (SELECT k, ROW_NUMBER() OVER (PARTITION BY g ORDER BY v) AS n FROM t) WHERE n = 1`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from streamtable.core.errors import Condition, StreamtableError
from streamtable.plan.aggregate.plan_aggregate import is_aggregate
from streamtable.plan.binding.expressions import Binder, Input
from streamtable.plan.join.plan_join import filtered
from streamtable.plan.over.plan_over import windows_of, with_named_windows
from streamtable.plan.query.conditions import bind_part, conjuncts
from streamtable.plan.query.correlated import naming_outer_columns
from streamtable.plan.query.plan_subquery import plan_subquery
from streamtable.plan.query.relation import Relation, bound_field, name_of, project
from streamtable.plan.query.scalar import is_scalar
from streamtable.plan.query.subquery import Planner, subquery_of
from streamtable.plan.rank.row_number_limit import bounded
from streamtable.plan.rank.sort_items import in_full
from streamtable.sql.place import place_of


@dataclass(frozen=True)
class Qualify:
    """A QUALIFY clause over the rows of its SELECT.

    Attributes:
        items: further SELECT items, which `parts` read by their aliases.
        parts: the parts of the condition.
    """

    items: Sequence[exp.Expr] = ()
    parts: Sequence[exp.Expr] = ()

    def apply(self, rows: Relation, source: Relation, planner: Planner) -> Relation:
        """Filter rows, whose last columns are those of `items`, and remove these columns.

        Args:
            rows: the rows of the SELECT.
            source: the rows of its FROM.
            planner: plans subqueries.
        """
        if not self.parts:
            return rows
        count = len(rows.columns) - len(self.items)
        shown = [exp.column(column.name, quoted=True) for column in rows.columns[:count]]
        rows, rest = bounded(rows, self.parts, shown)
        asked = {part: found for part in rest if (found := subquery_of(part)) is not None}
        binder = Binder(Input(rows.columns))
        plain = [bind_part(part, binder, "QUALIFY") for part in rest if part not in asked]
        rows = filtered(rows, plain)
        for found in asked.values():
            with naming_outer_columns(found.query, source.columns):
                rows = plan_subquery(found, rows, planner)
        columns = rows.columns[:count]
        outputs = [(column.field.name, bound_field(column.field)) for column in columns]
        return Relation(project(rows.node, outputs).node, columns)


def qualify_of(
    query: exp.Select, items: Sequence[exp.Expr], named: Sequence[exp.Window]
) -> Qualify:
    """Return the QUALIFY clause of a SELECT.

    As in Flink, a name in the clause is that of a SELECT item, before that of a column of FROM.

    Args:
        query: the SELECT.
        items: its items, without stars.
        named: its WINDOW clause.

    Raises:
        StreamtableError: INVALID_WINDOW for a condition without an OVER call, DUPLICATE_COLUMN for
            a name that several items have.
    """
    clause = query.args.get("qualify")
    if clause is None:
        return Qualify()
    names = [name_of(item, i) for i, item in enumerate(items)]
    _check_names(clause, Counter(names))
    values = {name: item.unalias() for name, item in zip(names, items, strict=True)}
    (condition,) = with_named_windows([in_full(clause.this, values)], named)
    if not any(windows_of([condition])):
        raise StreamtableError(
            Condition.INVALID_WINDOW,
            at=place_of(clause),
            hint="write a condition without OVER in WHERE or HAVING",
            function="QUALIFY",
            reason="the condition must contain an OVER call",
        )
    read: dict[exp.Expr, str] = {}
    parts = [_over(part, read) for part in conjuncts(condition)]
    added = [
        exp.Alias(this=value, alias=exp.to_identifier(name, quoted=True))
        for value, name in read.items()
    ]
    return Qualify(added, parts)


def _check_names(clause: exp.Expr, names: Counter[str]) -> None:
    for column in clause.find_all(exp.Column):
        if len(column.parts) == 1 and names[column.name] > 1:
            raise StreamtableError(
                Condition.DUPLICATE_COLUMN,
                at=place_of(column),
                hint="give the columns different aliases",
                column=column.name,
                table="SELECT",
            )


def _over(part: exp.Expr, read: dict[exp.Expr, str]) -> exp.Expr:
    """Return a part of the condition over further items, which are added to `read`.

    A part without an OVER call is an item itself, unless it compares with the rows of a subquery.
    """
    if not any(windows_of([part])) and subquery_of(part) is None:
        return _column(part, read)
    parent = exp.Qualify(this=part.copy())
    for node in list(parent.walk(prune=lambda n: _is_item(n) or isinstance(n, exp.Query))):
        if _is_item(node):
            node.replace(_column(node, read))
    over: exp.Expr = parent.this
    return over


def _is_item(node: exp.Expr) -> bool:
    return isinstance(node, exp.Window | exp.Column) or is_aggregate(node) or is_scalar(node)


def _column(value: exp.Expr, read: dict[exp.Expr, str]) -> exp.Expr:
    name = read.setdefault(value.copy(), f"$qualify{len(read)}")
    column = exp.column(name, quoted=True)
    column.meta.update(value.meta)
    return column
