"""Tables as the job first read them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from streamtable.connectors.mysql_cdc.reader import Column, TableId, TableSchema


@dataclass(frozen=True)
class KnownTable:
    """A table as the job first read it.

    Attributes:
        columns: names, in order.
        key: columns of the record's key.
        topics: the topics of its rows.
        booleans: names of TINYINT(1) columns, also of those that were dropped between two runs.
    """

    columns: tuple[str, ...]
    key: tuple[str, ...]
    topics: tuple[str, ...]
    booleans: tuple[str, ...] = ()

    def with_widths(self, table: TableSchema) -> TableSchema:
        """Return a table from the binlog with the width of TINYINT columns that it lacks now.

        The binlog has no display widths. The reader takes them from the current table, which lacks
        a column that was dropped or renamed later.
        """
        return replace(table, columns=tuple(map(self._with_width, table.columns)))

    def _with_width(self, column: Column) -> Column:
        kind = column.type
        if kind.name != "tinyint" or kind.length is not None or column.name not in self.booleans:
            return column
        return replace(column, type=replace(kind, length=1))


def boolean_columns(table: TableSchema) -> tuple[str, ...]:
    """Return the names of TINYINT(1) columns."""
    return tuple(c.name for c in table.columns if (c.type.name, c.type.length) == ("tinyint", 1))


def tables_json(tables: Mapping[TableId, KnownTable]) -> list[Any]:
    """Convert tables to JSON, ordered by name."""
    return [[list(name), asdict(table)] for name, table in sorted(tables.items())]


def read_tables(found: Iterable[Any]) -> dict[TableId, KnownTable]:
    """Read the JSON of `tables_json`.

    Raises:
        ValueError, AttributeError or TypeError: it has another form.
    """
    return {
        TableId(*name): KnownTable(**{field: tuple(names) for field, names in table.items()})
        for name, table in found
    }
