"""ORDER BY of a SELECT: add sort expressions that are not among its columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp


def with_sort_items(query: exp.Expr) -> tuple[exp.Expr, int]:
    """Append the sort expressions of ORDER BY as SELECT items; return their number, too.

    ORDER BY refers to positions and columns of the result. Any other expression is over FROM or
    over the groups. In it, a column name of the result refers to the item of that name. With
    DISTINCT, ORDER BY can refer only to the result.
    """
    order = query.args.get("order")
    if not isinstance(query, exp.Select) or order is None:
        return query, 0
    items = query.expressions
    aliases = {item.alias: item.this for item in items if isinstance(item, exp.Alias)}
    changed = query.copy()
    added = 0
    for i, (node, key) in enumerate(
        zip(order.expressions, changed.args["order"].expressions, strict=True)
    ):
        if _is_output(node.this, items):
            continue
        place = _place(node.this, items)
        if place is not None:
            key.set("this", exp.Literal.number(place))
        elif not query.args.get("distinct"):
            name = f"__sort_{i}"
            value = in_full(node.this, aliases)
            alias = exp.to_identifier(name, quoted=True)
            changed.append("expressions", exp.Alias(this=value, alias=alias))
            key.set("this", exp.column(name, quoted=True))
            added += 1
    return changed, added


def _is_output(node: exp.Expr, items: Sequence[exp.Expr]) -> bool:
    """Return whether a sort key is a position, or may be a column name of the result."""
    if isinstance(node, exp.Literal):
        return True
    if not isinstance(node, exp.Column) or len(node.parts) > 1:
        return False
    return any(item.is_star or item.alias_or_name == node.name for item in items)


def _place(node: exp.Expr, items: Sequence[exp.Expr]) -> int | None:
    """Return the position of the item that equals a sort key; None if a star hides positions."""
    if any(item.is_star for item in items):
        return None
    for position, item in enumerate(items, start=1):
        value = item.unalias()
        if value == node or (isinstance(value, exp.Column) and _same_column(value, node)):
            return position
    return None


def _same_column(column: exp.Column, node: exp.Expr) -> bool:
    """Return whether two columns are the same; an unqualified name matches any qualified one."""
    if not isinstance(node, exp.Column) or node.name != column.name:
        return False
    return 1 in (len(column.parts), len(node.parts))


def in_full(node: exp.Expr, aliases: Mapping[str, exp.Expr]) -> exp.Expr:
    """Return an expression with the expressions of SELECT items in place of their names."""

    def written(part: exp.Expr) -> exp.Expr:
        known = isinstance(part, exp.Column) and len(part.parts) == 1 and part.name in aliases
        return aliases[part.name].copy() if known else part

    return node.copy().transform(written)
