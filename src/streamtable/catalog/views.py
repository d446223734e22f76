"""Views: named queries; names of tables, and `*`, are resolved when the view is created."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from streamtable.catalog.column_paths import is_named_by_with, with_table_names
from streamtable.catalog.namespaces import Namespaces
from streamtable.core.errors import Condition, Span, StreamtableError
from streamtable.sql.nodes import JoinGroup
from streamtable.sql.place import place_of, put_at

_COLUMNS = "columns"
_NUMBER = "number"

#: The columns of stars by their numbers in the query of a view; None for stars of other queries.
Stars = dict[int | None, list[exp.Expr]]


@dataclass(frozen=True)
class View:
    """A named query; `columns`, if not empty, renames its output."""

    name: str
    query: exp.Query
    columns: tuple[str, ...] = ()
    comment: str | None = None
    at: Span | None = None


def qualified(query: exp.Query, namespaces: Namespaces) -> exp.Query:
    """Return the query with qualified table names; names of WITH queries stay as they are."""
    found = with_table_names(query.copy(), namespaces)
    for table in list(found.find_all(exp.Table)):
        names = tuple(part.name for part in table.parts)
        if len(names) == 1 and is_named_by_with(table, names[0]):
            continue
        path = namespaces.path(names)
        alias = table.args.get("alias")
        if alias is None and isinstance(table.parent, exp.From | exp.Join | JoinGroup):
            table.set("alias", exp.TableAlias(this=_name(names[-1], table)))
        table.set("db", _name(path.database, table))
        table.set("catalog", _name(path.catalog, table))
    return found


def star_of(item: exp.Expr) -> exp.Star | None:
    """Return the star of a SELECT item `*` or `t.*`."""
    star = item.this if isinstance(item, exp.Column) else item
    return star if isinstance(star, exp.Star) else None


def columns_kept(star: exp.Star) -> list[exp.Expr]:
    """Return the columns that a star had when its view was created; empty outside of views."""
    return [column.copy() for column in star.meta_get(_COLUMNS) or ()]


def numbered(view: View) -> View:
    """Return a view whose stars have numbers: those of a variable all have the same place."""
    query = view.query.copy()
    for number, star in enumerate(query.find_all(exp.Star)):
        star.meta[_NUMBER] = number
    return replace(view, query=query)


def number_of(star: exp.Star) -> int | None:
    """Return the number of a star; None outside of views."""
    found: int | None = star.meta_get(_NUMBER)
    return found


def with_stars(view: View, stars: Stars) -> View:
    """Return a view whose numbered stars keep these columns, as in Flink."""
    query = view.query.copy()
    for star in query.find_all(exp.Star):
        found = stars.get(number_of(star))
        if found is not None:
            star.meta[_COLUMNS] = found
    return replace(view, query=query)


def check_columns(view: View, names: Sequence[str]) -> None:
    """Refuse two columns of one name, at the second one.

    Args:
        view: a view whose stars keep their columns.
        names: the names of its columns.

    Raises:
        StreamtableError: DUPLICATE_COLUMN.
    """
    for i, name in enumerate(names):
        if name in names[:i]:
            items = [] if view.columns else _items(view.query)
            raise StreamtableError(
                Condition.DUPLICATE_COLUMN,
                at=place_of(items[i]) if items else view.at,
                hint="give one of them another name",
                column=name,
                table=f"view {view.name}",
            )


def _items(query: exp.Expr) -> list[exp.Expr]:
    """Return the items of the first SELECT of a view's query, with columns in place of stars."""
    while isinstance(query, exp.SetOperation | exp.Subquery):
        query = query.this
    return without_stars(query).expressions if isinstance(query, exp.Select) else []


def without_stars(query: exp.Query) -> exp.Query:
    """Return the query of a view with columns in place of its stars."""
    found = query.copy()
    for select in list(found.find_all(exp.Select)):
        items: list[exp.Expr] = []
        for item in select.expressions:
            star = star_of(item)
            items += (columns_kept(star) if star else []) or [item]
        select.set("expressions", items)
    return found


def _name(text: str, table: exp.Table) -> exp.Identifier:
    identifier = exp.Identifier(this=text, quoted=True)
    at = place_of(table)
    return identifier if at is None else put_at(identifier, at)
