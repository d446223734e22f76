"""ROW_NUMBER and LIMIT -> `TopN`.

A ROW_NUMBER is planned where it stands, in a subquery, and gets its limit from the WHERE above, as
in `SELECT ... FROM (SELECT ..., ROW_NUMBER() OVER (...) AS rn FROM t) WHERE rn <= 3`. One that gets
none numbers every row; see `rules.numbering`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from streamtable.core.errors import Condition, Span, StreamtableError
from streamtable.core.types import BIGINT, Field
from streamtable.plan.expressions import Binder, Input, InputField
from streamtable.plan.nodes import Calc, Node
from streamtable.plan.relation import Relation, unique_names, with_values
from streamtable.plan.stateful_nodes import SortKey, TopN
from streamtable.sql.place import place_of

#: A partition's first rows are read and written as a whole.
_MOST_ROWS = 10_000


def number_rows(
    items: Sequence[exp.Expr], window: exp.Window, relation: Relation
) -> tuple[list[exp.Expr], Relation]:
    """Puts a `TopN` under SELECT items that ask for one ROW_NUMBER, and a column in its place."""
    order = window.args.get("order")
    partition = window.args.get("partition_by") or []
    node, names = _ordered(relation, partition, order.expressions if order else [])
    taken = [*(f.name for f in node.input.fields), *(c.name for c in relation.columns)]
    rank = Field(unique_names([*taken, "row_number"])[-1], BIGINT.with_nullable(False))
    node = replace(node, partition=tuple(dict.fromkeys(names)), rank=rank, at=place_of(window))
    # An item that is what the rows are partitioned by is the partition's key.
    columns: dict[exp.Expr, str] = dict(zip(partition, names, strict=True))
    columns[window] = rank.name
    known = {c.field.name for c in relation.columns}
    made = [InputField(None, f.name, f) for f in node.fields if f.name not in known]
    replaced = [item.copy().transform(_as_column, columns, known) for item in items]
    return replaced, Relation(node, (*relation.columns, *made))


def _as_column(part: exp.Expr, columns: dict[exp.Expr, str], known: set[str]) -> exp.Expr:
    """The column that holds an expression, where the relation had none for it."""
    name = columns.get(part)
    if name is None or name in known:
        return part
    column = exp.column(name, quoted=True)
    column.meta.update(part.meta)
    return column


def limited(query: exp.Expr, relation: Relation) -> Relation:
    """The rows of a query that its ORDER BY, OFFSET and LIMIT leave.

    Raises:
        StreamtableError: NOT_YET for an order that nothing limits: a table that changes has none.
    """
    order, limit, offset = (query.args.get(key) for key in ("order", "limit", "offset"))
    if limit is None:
        found = order or offset
        if found is None:
            return relation
        raise StreamtableError(
            Condition.NOT_YET,
            at=place_of(found),
            what="ORDER BY or OFFSET without LIMIT",
            hint="the rows of a table have no order; add LIMIT to keep the first ones",
        )
    rows, skip = _number(limit.expression), _number(offset.expression) if offset else 0
    _check_limit(rows + skip, place_of(limit))
    asked = [_by_position(o, relation) for o in order.expressions] if order else []
    node, _ = _ordered(relation, [], asked)
    return Relation(replace(node, limit=rows, skip=skip), relation.columns)


def bounded(
    relation: Relation, parts: Sequence[exp.Expr], others: Sequence[exp.Expr]
) -> tuple[Relation, list[exp.Expr]]:
    """Gives a ROW_NUMBER below its limit, from the parts of a WHERE; returns what is left of them.

    Args:
        relation: what FROM gives.
        parts: those of WHERE.
        others: every other expression of the query. A place that none of them reads is not kept.
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
        kept = any(_reads(node, column) for node in (*rest, *others))
        node = _limited(relation.node, column.field.name, limit, kept=kept)
        columns = tuple(c for c in relation.columns if kept or c is not column)
        return Relation(node, columns), rest
    return relation, list(parts)


def _ordered(
    relation: Relation, partition: Sequence[exp.Expr], order: Sequence[exp.Ordered]
) -> tuple[TopN, list[str]]:
    """A `TopN` without partitions, and the fields that the partition's expressions became."""
    binder = Binder(Input(relation.columns))
    keys = [binder.bind(node) for node in partition]
    sorts = [binder.bind(node.this) for node in order]
    below, names = with_values(relation, [*keys, *sorts], "sort_key")
    found = tuple(
        SortKey(name, bool(node.args.get("desc")), nulls_first(node))
        for name, node in zip(names[len(keys) :], order, strict=True)
    )
    arrival = [bound.time_attribute for bound in sorts] == ["proc"]
    return TopN(below.node, (), found, arrival=arrival), names[: len(keys)]


def nulls_first(node: exp.Ordered) -> bool:
    """NULL is less than every value, unless the query says where it goes."""
    given = node.args.get("nulls_first")
    return not node.args.get("desc") if given is None else bool(given)


def _by_position(node: exp.Ordered, relation: Relation) -> exp.Ordered:
    """`ORDER BY 2` means the second column."""
    text = node.this.name if isinstance(node.this, exp.Literal) and not node.this.is_string else ""
    if not text.isdigit() or not 1 <= int(text) <= len(relation.columns):
        return node
    copy = node.copy()
    copy.set("this", exp.column(relation.columns[int(text) - 1].name, quoted=True))
    return copy


def _number(node: exp.Expr) -> int:
    if not isinstance(node, exp.Literal) or not node.name.isdigit():
        raise StreamtableError(
            Condition.SYNTAX, at=place_of(node), expected="a whole number", found=node.sql()
        )
    return int(node.name)


def _check_limit(limit: int, at: Span | None) -> None:
    if not 1 <= limit <= _MOST_ROWS:
        raise StreamtableError(
            Condition.NOT_YET, at=at, what=f"a limit of {limit} rows (1 to {_MOST_ROWS} are)"
        )


def _top_of(node: Node, name: str) -> TopN | None:
    """The `TopN` whose rows' places a field holds."""
    while isinstance(node, Calc) and node.condition is None:
        sources = {p.field.name: p.source for p in node.projections}
        source = sources.get(name)
        if source is None:
            return None
        node, name = node.input, source
    is_rank = isinstance(node, TopN) and node.rank is not None and node.rank.name == name
    return node if is_rank and isinstance(node, TopN) else None


_UPPER: dict[type[exp.Expr], int] = {exp.LTE: 0, exp.LT: -1, exp.EQ: 0}
_MIRRORED: dict[type[exp.Expr], int] = {exp.GTE: 0, exp.GT: -1, exp.EQ: 0}


def _bound(part: exp.Expr, column: InputField) -> int | None:
    """The greatest place that a part of WHERE lets pass, where it says so in a number."""
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
    """Whether the limit says all that the part says."""
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
    """The same projections over a `TopN` with a limit, the place left out where it is not kept."""
    if isinstance(node, Calc):
        source = next(p.source for p in node.projections if p.field.name == name)
        below = _limited(node.input, source or name, limit, kept=kept)
        projections = tuple(p for p in node.projections if kept or p.field.name != name)
        return replace(node, input=below, projections=projections)
    assert isinstance(node, TopN), "checked by _top_of"  # noqa: S101
    return replace(node, limit=limit, rank=node.rank if kept else None)
