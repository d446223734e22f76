"""Columns qualified by the path of their table, as in `SELECT db.t.c FROM db.t`."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from streamtable.catalog.namespaces import Namespaces
from streamtable.sql.nodes import JoinGroup


def with_table_names(query: exp.Query, namespaces: Namespaces) -> exp.Query:
    """Return the query with `t.c` for a column `db.t.c` or `catalog.db.t.c`.

    As in Calcite, the longest prefix that is the path of a table in FROM counts, and an alias other
    than the table's own name hides the path. Other columns stay as they are: `t.row.field`.
    """
    if not any(map(_may_have_path, query.find_all(exp.Column))):
        return query
    found = query.copy()
    for column in list(filter(_may_have_path, found.find_all(exp.Column))):
        names = tuple(part.name for part in column.parts)
        for length in (3, 2):
            if length < len(names) and _in_scope(column, names[:length], namespaces):
                for key in ("catalog", "db")[4 - len(names) : 3 - len(names) + length]:
                    column.set(key, None)
                break
    return found


def is_named_by_with(table: exp.Table, name: str) -> bool:
    """Return whether a name is a WITH query in scope; an item sees only the items before it."""
    inner: exp.Expr = table
    while (around := inner.parent) is not None:
        clause = around.args.get("with_")
        seen: list[exp.Expr] = []
        if isinstance(around, exp.With):
            seen = around.expressions[: inner.index]
        elif clause is not None and clause is not inner:
            seen = clause.expressions
        if any(item.alias == name for item in seen):
            return True
        inner = around
    return False


def _may_have_path(column: exp.Column) -> bool:
    return len(column.parts) > 2


def _in_scope(column: exp.Column, path: tuple[str, ...], namespaces: Namespaces) -> bool:
    """Return whether a path is that of a table in FROM; an inner item of its name hides it."""
    around = column.parent
    while around is not None:
        if isinstance(around, exp.Select):
            named = [item for item in _items(around) if item.alias_or_name == path[-1]]
            if named:
                return any(_has_path(item, path, namespaces) for item in named)
        around = around.parent
    return False


def _items(query: exp.Select) -> Iterator[exp.Expr]:
    source = query.args.get("from_")
    items = [source.this] if source else []
    items += [join.this for join in query.args.get("joins") or ()]
    while items:
        item = items.pop()
        if isinstance(item, JoinGroup):
            items += [item.this, *(join.this for join in item.args["joins"])]
        else:
            yield item


def _has_path(item: exp.Expr, path: tuple[str, ...], namespaces: Namespaces) -> bool:
    if not isinstance(item, exp.Table):
        return False
    names = tuple(part.name for part in item.parts)
    if len(names) == 1 and is_named_by_with(item, names[0]):
        return False
    return namespaces.path(names) == namespaces.path(path)
