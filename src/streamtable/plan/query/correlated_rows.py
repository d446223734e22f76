"""Decorrelate a subquery with ORDER BY and LIMIT: the first rows of each tie, as ROW_NUMBER.

`(SELECT v FROM t WHERE t.k = o.k ORDER BY v LIMIT 2)` becomes
`SELECT v, tie FROM (SELECT v, k AS tie, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v) AS r FROM t)
WHERE r <= 2`, joined on `o.k = tie`. Flink plans the same Top-N where the outer query has
the distinct keys of the same table, and refuses others.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from streamtable.catalog.views import Stars
from streamtable.plan.binding.expressions import InputField
from streamtable.plan.query.relation import name_of
from streamtable.plan.query.stars import expand_stars
from streamtable.sql.nodes import FlinkCall
from streamtable.sql.place import place_of, put_at

_RANK = "$rank"


def first_rows(
    query: exp.Select,
    local: Sequence[exp.Expr],
    sides: Sequence[exp.Expr],
    inner: Sequence[InputField],
    stars: Stars,
) -> tuple[exp.Select, list[exp.Expr]]:
    """Rewrite a subquery without aggregates that has LIMIT.

    Args:
        query: the subquery.
        local: the conditions of its WHERE over its own FROM.
        sides: the inner sides of its ties, each with an alias.
        inner: the columns of its FROM.
        stars: takes the columns of its stars.

    Returns:
        The rewritten query, which selects the items and then the sides, and the items.
    """
    items = [
        exp.alias_(item.unalias().copy(), name_of(item, i), quoted=True)
        for i, item in enumerate(expand_stars(query.expressions, inner, stars))
    ]
    place, limit = place_of(query.args["limit"]), query.args["limit"].expression
    window = exp.Window(
        this=FlinkCall(this="ROW_NUMBER", expressions=[]),
        partition_by=[side.unalias().copy() for side in sides],
    )
    order = query.args.get("order")
    keys = order.expressions if order else []
    window.set("order", exp.Order(expressions=[_over_items(key, items) for key in keys]))
    rank = exp.alias_(window, _RANK, quoted=True)
    if place is not None:
        put_at(window, place)
        put_at(window.this, place)
    ranked = query.copy()
    ranked.set("order", None)
    ranked.set("limit", None)
    ranked.set("where", exp.Where(this=exp.and_(*local)) if local else None)
    ranked.set("expressions", [*items, *sides, rank])
    names = [part.alias for part in (*items, *sides)]
    outer = exp.Select(expressions=[exp.column(name, quoted=True) for name in names])
    outer.set("from_", exp.From(this=exp.Subquery(this=ranked)))
    bound = exp.LTE(this=exp.column(_RANK, quoted=True), expression=limit.copy())
    outer.set("where", exp.Where(this=bound))
    return outer, items


def _over_items(key: exp.Expr, items: Sequence[exp.Expr]) -> exp.Expr:
    """Return a sort key over FROM: the alias or the number of an item is its expression."""
    value = key.this
    found: exp.Expr | None = None
    if isinstance(value, exp.Column) and not value.table:
        found = next((item for item in items if item.alias == value.name), None)
    elif isinstance(value, exp.Literal) and not value.is_string and value.name.isdigit():
        position = int(value.name)
        found = items[position - 1] if 1 <= position <= len(items) else None
    copy = key.copy()
    if found is not None:
        copy.set("this", found.unalias().copy())
    return copy
