"""Plan ROW_NUMBER and LIMIT -> `TopN`.

A ROW_NUMBER in a subquery is planned there. The WHERE of the outer query sets its limit, as in
`SELECT ... FROM (SELECT ..., ROW_NUMBER() OVER (...) AS rn FROM t) WHERE rn <= 3`. A ROW_NUMBER
without a limit numbers every row; see `rank.numbering`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from streamtable.core.errors import Condition, Span, StreamtableError
from streamtable.core.types import BIGINT, Field
from streamtable.plan.binding.comparisons import check_order
from streamtable.plan.binding.expressions import Binder, Input, InputField
from streamtable.plan.binding.literals import boolean
from streamtable.plan.node import Node
from streamtable.plan.query.relation import (
    Relation,
    bound_field,
    project,
    unique_names,
    with_values,
)
from streamtable.plan.rank.sort_key import SortKey
from streamtable.plan.rank.temporal_sort import TemporalSort
from streamtable.plan.rank.top_n import TopN
from streamtable.plan.rows.calc import Calc
from streamtable.sql.dialect import flink_sql
from streamtable.sql.place import place_of

#: Maximum limit: the first rows of a partition are read and written as a whole.
_MOST_ROWS = 10_000


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
    _check_limit(rows + skip, place_of(limit))
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


def bounded(
    relation: Relation, parts: Sequence[exp.Expr], others: Sequence[exp.Expr]
) -> tuple[Relation, list[exp.Expr]]:
    """Set the limit of a ROW_NUMBER below from the parts of a WHERE; return the remaining parts.

    Args:
        relation: the relation of FROM.
        parts: the parts of WHERE.
        others: all other expressions of the query. A row number that none of them reads is dropped.
    """
    for column in relation.columns:
        top = _top_of(relation.node, column.field.name)
        if top is None or top.limit is not None:
            continue
        found = [(part, _bound(part, column)) for part in parts]
        limits = [limit for _, limit in found if limit is not None]
        if not limits:
            continue
        limit = min(limits)
        _check_limit(limit, place_of(parts[0]))
        rest = [p for p, bound in found if bound is None or not _is_whole(p, bound, limit)]
        asked = any(_reads(node, column) for node in (*rest, *others))
        kept = asked or _is_shared(relation.node, column.field.name)
        node = _limited(relation.node, column.field.name, limit, kept=kept)
        columns = tuple(c for c in relation.columns if kept or c is not column)
        return Relation(node, columns), rest
    return relation, list(parts)


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


def _check_limit(limit: int, at: Span | None) -> None:
    if not 1 <= limit <= _MOST_ROWS:
        raise StreamtableError(
            Condition.NOT_YET, at=at, what=f"a limit of {limit} rows (supported: 1 to {_MOST_ROWS})"
        )


def _top_of(node: Node, name: str) -> TopN | None:
    """Return the `TopN` whose row number a field holds."""
    while isinstance(node, Calc) and node.condition is None:
        sources = {p.field.name: p.source for p in node.projections}
        source = sources.get(name)
        if source is None:
            return None
        node, name = node.input, source
    is_rank = isinstance(node, TopN) and node.rank is not None and node.rank.name == name
    return node if is_rank and isinstance(node, TopN) else None


def _is_shared(node: Node, name: str) -> bool:
    """Return whether other columns are computed from the row number that a field holds."""
    while isinstance(node, Calc):
        source = node.source_of(name)
        if any(source in p.reads for p in node.projections if p.field.name != name):
            return True
        node, name = node.input, source or name
    return False


_UPPER: dict[type[exp.Expr], int] = {exp.LTE: 0, exp.LT: -1, exp.EQ: 0}
_MIRRORED: dict[type[exp.Expr], int] = {exp.GTE: 0, exp.GT: -1, exp.EQ: 0}


def _bound(part: exp.Expr, column: InputField) -> int | None:
    """Return the maximum row number that a part of WHERE accepts, if it is a constant."""
    if isinstance(part, exp.Between):
        sides = (part.this, part.args["high"], _UPPER[exp.LTE])
    elif type(part) in _UPPER and _reads(part.this, column):
        sides = (part.this, part.args["expression"], _UPPER[type(part)])
    elif type(part) in _MIRRORED:
        sides = (part.args["expression"], part.this, _MIRRORED[type(part)])
    else:
        return None
    place, number, shift = sides
    is_number = isinstance(number, exp.Literal) and number.name.isdigit()
    if not isinstance(place, exp.Column) or not _reads(place, column) or not is_number:
        return None
    return int(number.name) + shift


def _is_whole(part: exp.Expr, bound: int, limit: int) -> bool:
    """Return whether the limit is equivalent to the part of WHERE."""
    if isinstance(part, exp.EQ):
        return bound == limit == 1
    return not isinstance(part, exp.Between)


def _reads(node: exp.Expr, column: InputField) -> bool:
    return any(
        isinstance(part, exp.Star)
        or (isinstance(part, exp.Column) and column.name in [p.name for p in part.parts])
        for part in node.walk()
    )


def _limited(node: Node, name: str, limit: int, *, kept: bool) -> Node:
    """Set the limit of a `TopN` below projections; drop the row number unless `kept`."""
    if isinstance(node, Calc):
        source = next(p.source for p in node.projections if p.field.name == name)
        below = _limited(node.input, source or name, limit, kept=kept)
        projections = tuple(p for p in node.projections if kept or p.field.name != name)
        return replace(node, input=below, projections=projections)
    assert isinstance(node, TopN), "checked by _top_of"  # noqa: S101
    return replace(node, limit=limit, rank=node.rank if kept else None)
