"""Expand stars of SELECT, `*`, `t.*` and `row.*`, to columns.

A star's column whose name is taken by an item before it gets a number, as in Flink: `SELECT *` over
two tables with a column `uid` has the columns `uid` and `uid0`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from sqlglot import exp

from streamtable.catalog.views import Stars, columns_kept, number_of, star_of
from streamtable.core.errors import Condition, StreamtableError, closest
from streamtable.plan.binding.bound import InputField
from streamtable.plan.query.relation import name_of, numbered_name
from streamtable.sql.place import place_of, put_at

_RENAMED = "renamed"


def expand_stars(
    items: Iterable[exp.Expr], columns: Sequence[InputField], stars: Stars
) -> list[exp.Expr]:
    """Return the items with columns for each star; a star of a view has those of its creation.

    Args:
        items: the items of a SELECT.
        columns: the columns of its FROM.
        stars: takes the columns of each star.

    Raises:
        StreamtableError: UNKNOWN_TABLE, or SYNTAX for a `*` without FROM.
    """
    expanded: list[exp.Expr] = []
    taken: set[str] = set()
    for item in items:
        star = star_of(item)
        if star is None:
            taken.add(name_of(item, len(expanded)))
            expanded.append(item)
            continue
        found = columns_kept(star) or [_renamed(c, taken) for c in _columns(item, columns)]
        taken.update(column.alias_or_name for column in found)
        stars.setdefault(number_of(star), [column.copy() for column in found])
        expanded += found
    return expanded


def field_name_of(item: exp.Expr, position: int) -> str:
    """Return the base name of the field with an item: a star's column has its own name.

    Field names are part of a plan's shape, so the name of a renamed column is not used.
    """
    return name_of(item.this if item.meta_get(_RENAMED) else item, position)


def _renamed(column: exp.Expr, taken: set[str]) -> exp.Expr:
    """Return a star's column, with an alias if its name is taken; take the name."""
    own = name_of(column, 0)
    name = numbered_name(own, taken)
    taken.add(name)
    if name == own:
        return column
    alias = exp.alias_(column, name, quoted=True)
    alias.meta[_RENAMED] = True
    at = place_of(column)
    return alias if at is None else put_at(alias, at)


def _columns(item: exp.Expr, columns: Sequence[InputField]) -> list[exp.Expr]:
    if isinstance(item, exp.Star):
        if not columns:
            raise StreamtableError(
                Condition.SYNTAX, at=place_of(item), expected="FROM after *", found="none"
            )
        return [_column(c.qualifier, c.name, item) for c in columns if not c.merged]
    table, schema = item.text("table"), item.text("db")
    fields = list(_fields_of_row(item, table, schema, columns))
    if fields:
        return fields
    found = [] if schema else [c for c in columns if c.qualifier == table]
    if not found:
        raise StreamtableError(
            Condition.UNKNOWN_TABLE,
            at=place_of(item),
            table=f"{schema}.{table}" if schema else table,
            hint=closest(table, {c.qualifier for c in columns if c.qualifier}),
        )
    return [_column(c.qualifier, c.name, item) for c in found]


def _fields_of_row(
    star: exp.Expr, name: str, table: str, columns: Sequence[InputField]
) -> Iterator[exp.Expr]:
    """Expand `row.*` or `t.row.*`; empty if no column of that name is a ROW."""
    rows = [
        column
        for column in columns
        if column.name == name and table in ("", column.qualifier) and column.field.type.fields
    ]
    tables = {column.qualifier for column in columns}
    if len(rows) != 1 or (not table and name in tables):
        return
    for field in rows[0].field.type.fields:
        row = _column(rows[0].qualifier, rows[0].name, star)
        yield exp.Dot(this=row, expression=exp.to_identifier(field.name, quoted=True))


def _column(qualifier: str | None, name: str, star: exp.Expr) -> exp.Column:
    column = exp.column(name, table=qualifier, quoted=True)
    place = place_of(star)
    if place is not None:
        column.meta["at"] = place
    return column
