"""Limit a ROW_NUMBER by a condition on it: in WHERE, or in the condition of a join.

`SELECT ... FROM (SELECT ..., ROW_NUMBER() OVER (...) AS rn FROM t) WHERE rn <= 3` needs the first
three rows of each partition only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from streamtable.core.errors import Condition, Span, StreamtableError
from streamtable.plan.binding.expressions import InputField
from streamtable.plan.node import Node
from streamtable.plan.query.conditions import Part
from streamtable.plan.query.relation import Relation
from streamtable.plan.rank.top_n import TopN
from streamtable.plan.rows.calc import Calc
from streamtable.sql.place import place_of

#: Maximum limit: the first rows of a partition are read and written as a whole.
_MOST_ROWS = 10_000


def check_limit(limit: int, at: Span | None) -> None:
    """Raise NOT_YET for a limit that no operator supports."""
    if not _is_possible(limit):
        raise StreamtableError(
            Condition.NOT_YET, at=at, what=f"a limit of {limit} rows (supported: 1 to {_MOST_ROWS})"
        )


@dataclass(frozen=True)
class _Bound:
    """A comparison of a column with the largest number that it accepts.

    Attributes:
        node: the comparison.
        column: the column as the query names it.
    """

    node: exp.Expr
    column: exp.Column
    limit: int

    def follows_from(self, limit: int) -> bool:
        """Return whether the comparison is true for all row numbers up to a limit."""
        if isinstance(self.node, exp.EQ):
            return self.limit == limit == 1
        return not isinstance(self.node, exp.Between)


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
        if _unlimited(relation.node, column.field.name) is None:
            continue
        read = [(part, _bound(part)) for part in parts]
        found = [
            (part, b if b is not None and _reads(b.column, column) else None) for part, b in read
        ]
        limit = min((b.limit for _, b in found if b is not None), default=None)
        if limit is None:
            continue
        check_limit(limit, place_of(parts[0]))
        rest = [part for part, b in found if b is None or not b.follows_from(limit)]
        asked = any(_reads(node, column) for node in (*rest, *others))
        kept = asked or _is_shared(relation.node, column.field.name)
        node = _limited(relation.node, column.field.name, limit, kept=kept)
        columns = tuple(c for c in relation.columns if kept or c is not column)
        return Relation(node, columns), rest
    return relation, list(parts)


def with_limit(relation: Relation, parts: Sequence[Part]) -> tuple[Relation, list[Part]]:
    """Set the limit of a ROW_NUMBER from conditions on its rows alone; return the remaining ones.

    The row number stays, because other clauses may read it. Numbers in the order of time get no
    limit: they never change, and their rows are append-only without it.
    """
    for field in relation.node.fields:
        top = _unlimited(relation.node, field.name)
        if top is None or top.is_final:
            continue
        found = [(p, _bound(p.node) if p.fields == {field.name} else None) for p in parts]
        limit = min((b.limit for _, b in found if b is not None), default=0)
        if _is_possible(limit):
            node = _limited(relation.node, field.name, limit, kept=True)
            rest = [part for part, b in found if b is None or not b.follows_from(limit)]
            return Relation(node, relation.columns), rest
    return relation, list(parts)


def _is_possible(limit: int) -> bool:
    return 1 <= limit <= _MOST_ROWS


def _unlimited(node: Node, name: str) -> TopN | None:
    """Return the `TopN` without a limit whose row number a field holds."""
    while isinstance(node, Calc) and node.condition is None:
        source = node.source_of(name)
        if source is None:
            return None
        node, name = node.input, source
    if not isinstance(node, TopN) or node.limit is not None:
        return None
    return node if node.rank is not None and node.rank.name == name else None


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


def _bound(part: exp.Expr | None) -> _Bound | None:
    """Return a part of a condition that compares a column with a constant; None for others."""
    if part is None:
        return None
    if isinstance(part, exp.Between) and not part.args.get("symmetric"):
        sides = (part.this, part.args["high"], _UPPER[exp.LTE])
    elif type(part) in _UPPER and isinstance(part.this, exp.Column):
        sides = (part.this, part.args["expression"], _UPPER[type(part)])
    elif type(part) in _MIRRORED:
        sides = (part.args["expression"], part.this, _MIRRORED[type(part)])
    else:
        return None
    column, number, shift = sides
    is_number = isinstance(number, exp.Literal) and number.name.isdigit()
    if not isinstance(column, exp.Column) or not is_number:
        return None
    return _Bound(part, column, int(number.name) + shift)


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
    assert isinstance(node, TopN), "checked by _unlimited"  # noqa: S101
    return replace(node, limit=limit, rank=node.rank if kept else None)
