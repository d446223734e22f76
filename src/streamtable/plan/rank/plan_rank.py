"""Plan ROW_NUMBER and LIMIT -> `TopN`.

A ROW_NUMBER in a subquery is planned there. A condition of the outer query sets its limit; see
`rank.row_number_limit`. A ROW_NUMBER without a limit numbers every row; see `rank.numbering`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.types import BIGINT, Field
from streamtable.plan.binding.comparisons import check_order
from streamtable.plan.binding.expressions import Binder, Input, InputField
from streamtable.plan.binding.literals import boolean
from streamtable.plan.query.relation import (
    Relation,
    bound_field,
    project,
    unique_names,
    with_values,
)
from streamtable.plan.rank.row_number_limit import check_limit
from streamtable.plan.rank.sort_key import SortKey
from streamtable.plan.rank.temporal_sort import TemporalSort
from streamtable.plan.rank.top_n import TopN
from streamtable.sql.dialect import flink_sql
from streamtable.sql.place import place_of


def number_rows(
    items: Sequence[exp.Expr], window: exp.Window, relation: Relation
) -> tuple[list[exp.Expr], Relation]:
    """Add a `TopN` below SELECT items with one ROW_NUMBER, and replace the call by a column."""
    order = window.args.get("order")
    partition = window.args.get("partition_by") or []
    node, names = _ordered(relation, partition, order.expressions if order else [])
    taken = [*(f.name for f in node.input.fields), *(c.name for c in relation.columns)]
    rank = Field(unique_names([*taken, "row_number"])[-1], BIGINT.with_nullable(False))
    node = replace(node, partition=tuple(dict.fromkeys(names)), rank=rank, at=place_of(window))
    # An item that equals a partition expression becomes the key column of the partition.
    columns: dict[exp.Expr, str] = dict(zip(partition, names, strict=True))
    columns[window] = rank.name
    known = {c.field.name for c in relation.columns}
    made = [InputField(None, f.name, f) for f in node.fields if f.name not in known]
    replaced = [item.copy().transform(_as_column, columns, known) for item in items]
    return replaced, Relation(node, (*relation.columns, *made))


def _as_column(part: exp.Expr, columns: dict[exp.Expr, str], known: set[str]) -> exp.Expr:
    """Return the new column that holds an expression, if the relation had no column for it."""
    name = columns.get(part)
    if name is None or name in known:
        return part
    column = exp.column(name, quoted=True)
    column.meta.update(part.meta)
    return column


def limited(query: exp.Expr, relation: Relation, *, whole: bool) -> Relation:
    """Apply the ORDER BY, OFFSET and LIMIT of a query.

    Args:
        query: a query.
        relation: its rows without those clauses.
        whole: whether the query is not part of another query.

    Raises:
        StreamtableError: NOT_YET for ORDER BY without LIMIT, except by a time attribute: a changing
            table has no order.
    """
    order, limit, offset = (query.args.get(key) for key in ("order", "limit", "offset"))
    if limit is None and order is not None and offset is None:
        return _sorted_by_time(order, relation, whole=whole)
    if limit is None:
        if offset is None:
            return relation
        raise _unlimited(offset)
    rows, skip = _number(limit.expression), _number(offset.expression) if offset else 0
    asked = [_by_position(o, relation) for o in order.expressions] if order else []
    node, _ = _ordered(relation, [], asked)
    if rows == 0:
        fields = [(f.name, bound_field(f)) for f in relation.node.fields]
        return Relation(
            project(relation.node, fields, boolean(False, at=None)).node, relation.columns
        )
    check_limit(rows + skip, place_of(limit))
    return Relation(replace(node, limit=rows, skip=skip), relation.columns)


def _unlimited(clause: exp.Expr) -> StreamtableError:
    return StreamtableError(
        Condition.NOT_YET,
        at=place_of(clause),
        what="ORDER BY or OFFSET without LIMIT",
        hint="the rows of a table have no order but that of an event time, ascending; add LIMIT to"
        " keep the first rows",
    )


def _sorted_by_time(order: exp.Order, relation: Relation, *, whole: bool) -> Relation:
    """Sort all rows by a time attribute, ascending, and then by other columns.

    Flink's planner removes the order of a part of a query. So does this function.
    """
    asked = [_by_position(node, relation) for node in order.expressions]
    binder = Binder(Input(relation.columns))
    keys = [binder.bind(node.this) for node in asked]
    for key in keys:
        check_order("ORDER BY", (key,), place_of(order))
    in_arrival = [key.time_attribute for key in keys] == ["proc"] and not _descends(asked[0])
    if in_arrival or not whole:
        return relation
    if _descends(asked[0]):
        raise _unlimited(order)
    below, names = with_values(relation, keys, "sort_key")
    if not below.node.is_event_time(names[0]):
        raise _unlimited(order)
    peers = tuple(
        SortKey(name, _descends(node), nulls_first(node))
        for name, node in zip(names[1:], asked[1:], strict=True)
    )
    return Relation(TemporalSort(below.node, names[0], peers, at=place_of(order)), relation.columns)


def _ordered(
    relation: Relation, partition: Sequence[exp.Expr], order: Sequence[exp.Ordered]
) -> tuple[TopN, list[str]]:
    """Return a `TopN` without partitions, and the field names of the partition expressions."""
    binder = Binder(Input(relation.columns))
    keys = [binder.bind(node) for node in partition]
    sorts = [binder.bind(node.this) for node in order]
    for bound, node in zip(sorts, order, strict=True):
        check_order("ORDER BY", (bound,), place_of(node))
    below, names = with_values(relation, [*keys, *sorts], "sort_key")
    found = tuple(
        SortKey(name, _descends(node), nulls_first(node))
        for name, node in zip(names[len(keys) :], order, strict=True)
    )
    arrival = [bound.time_attribute for bound in sorts] == ["proc"]
    return TopN(below.node, (), found, arrival=arrival), names[: len(keys)]


def nulls_first(node: exp.Ordered) -> bool:
    """Return whether NULLs come first: by default, NULL is less than every value."""
    given = node.args.get("nulls_first")
    return not node.args.get("desc") if given is None else bool(given)


def _descends(node: exp.Ordered) -> bool:
    return bool(node.args.get("desc"))


def _by_position(node: exp.Ordered, relation: Relation) -> exp.Ordered:
    """Resolve a position: `ORDER BY 2` means the second column.

    Raises:
        StreamtableError: SYNTAX if there is no such column.
    """
    text = node.this.name if isinstance(node.this, exp.Literal) and not node.this.is_string else ""
    if not text.isdigit():
        return node
    if not 1 <= int(text) <= len(relation.columns):
        raise StreamtableError(
            Condition.SYNTAX,
            at=place_of(node.this),
            expected=f"a position from 1 to {len(relation.columns)} in ORDER BY",
            found=text,
        )
    copy = node.copy()
    copy.set("this", exp.column(relation.columns[int(text) - 1].name, quoted=True))
    return copy


def _number(node: exp.Expr) -> int:
    if not isinstance(node, exp.Literal) or not node.name.isdigit():
        raise StreamtableError(
            Condition.SYNTAX, at=place_of(node), expected="a whole number", found=flink_sql(node)
        )
    return int(node.name)
