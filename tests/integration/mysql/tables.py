"""Fold changes into tables, and compare them with the tables of the server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from streamtable.connectors.mysql_cdc.reader import (
    Change,
    Offset,
    Planner,
    Row,
    SchemaChange,
    SourceSpec,
    TableId,
    TableSchema,
    parts,
    read,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.mariadb import MariaDb

Rows = dict[tuple[TableId, tuple[Any, ...]], dict[str, Any]]


class Folded:
    """Rows of tables after their changes. A change that does not fit the rows so far fails.

    Args:
        key: columns that identify a row of tables without a primary key.
    """

    def __init__(self, key: tuple[str, ...] = ()) -> None:
        self._key_names = key
        self.rows: Rows = {}
        self.schema_changes: list[SchemaChange] = []
        self.changes = 0

    def take(self, found: Iterable[Change | SchemaChange]) -> None:
        for change in found:
            if isinstance(change, SchemaChange):
                self.schema_changes.append(change)
                continue
            self.changes += 1
            table = change.table
            names = [column.name for column in table.columns]
            if change.before is not None:
                row = self.rows.pop((table.id, self._key(table, change.before)))
                values = dict(zip(names, change.before, strict=True))
                assert {k: values.get(k) for k in row} == row or set(row) != set(values)
            if change.after is not None:
                place = table.id, self._key(table, change.after)
                assert place not in self.rows, change
                self.rows[place] = dict(zip(names, change.after, strict=True))

    def _key(self, table: TableSchema, row: Row) -> Row:
        return tuple(row[table.places[name]] for name in table.primary_key or self._key_names)

    def of(self, table: TableId) -> list[dict[str, Any]]:
        return [row for (owner, _), row in self.rows.items() if owner == table]


def step(spec: SourceSpec, planner: Planner, start: Offset, into: Folded) -> Offset:
    """Read one batch and return its end."""
    end = planner.next(start)
    for part in parts(start, end):
        into.take(read(spec, part))
    return end


def read_to_end(
    spec: SourceSpec, start: Offset | None = None, into: Folded | None = None
) -> tuple[Offset, Folded]:
    """Read from the beginning or an offset to the current end. Return the end and the tables."""
    folded = into or Folded()
    with Planner(spec) as planner:
        planner.stop_at_end()
        at = start or planner.initial()
        while not planner.ended(at):
            at = step(spec, planner, at, folded)
    return at, folded


def stored(server: MariaDb, table: TableId) -> list[dict[str, Any]]:
    """Return all rows of a table. PyMySQL returns some types in another form than the reader."""
    import pymysql

    connection = server.connect(table.database)
    with connection.cursor(pymysql.cursors.DictCursor) as cursor:
        cursor.execute(f"SELECT * FROM `{table.table}`")
        found = list(cursor.fetchall())
    connection.close()
    return found


def same(left: list[dict[str, Any]], right: list[dict[str, Any]]) -> bool:
    """Return whether two lists have the same rows in any order."""
    return sorted(map(_text, left)) == sorted(map(_text, right))


def _text(row: dict[str, Any]) -> str:
    return repr(sorted(row.items()))
