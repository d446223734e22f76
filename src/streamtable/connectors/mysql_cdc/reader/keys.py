"""Chunk keys: the column that divides a table into chunks, and chunk bounds.

Tables whose first key column has a type without an order are one chunk.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from streamtable.connectors.mysql_cdc.reader.connect import Session
from streamtable.connectors.mysql_cdc.reader.discover import Patterns
from streamtable.connectors.mysql_cdc.reader.key_order import KeyOrder, key_changed
from streamtable.connectors.mysql_cdc.reader.model import Column, TableId, TableSchema
from streamtable.connectors.mysql_cdc.reader.spec import SourceSpec
from streamtable.connectors.mysql_cdc.reader.values.snapshot_values import literal, parser, quoted
from streamtable.connectors.mysql_cdc.reader.values.types import value_kind
from streamtable.core.errors import Condition, StreamtableError

_ORDERED = frozenset(
    {
        "tinyint",
        "smallint",
        "mediumint",
        "int",
        "bigint",
        "decimal",
        "year",
        "date",
        "time",
        "datetime",
        "timestamp",
        "binary",
        "varbinary",
    }
)
_TEXTS = frozenset({"char", "varchar"})


@dataclass(frozen=True)
class ChunkKey:
    """The division of one table into chunks.

    Attributes:
        column: the key column; None if the table is one chunk.
        order: the order of its values.
    """

    table: TableSchema
    column: Column | None
    order: KeyOrder

    def has_order(self, orders: Mapping[TableId, str]) -> bool:
        """Return whether the table's chunks were planned in this order."""
        former = orders.get(self.table.id)
        return former is None or KeyOrder.parse(former) == self.order

    def require_order(self, orders: Mapping[TableId, str]) -> None:
        """Raise TABLE_UNREADABLE if the table's chunks were planned in another order."""
        if not self.has_order(orders):
            former = orders[self.table.id]
            by = "ALTER TABLE or 'scan.incremental.snapshot.chunk.key-column'"
            is_same = KeyOrder.parse(former).column == self.order.column
            raise key_changed(self.table.id, former, str(self.order), "" if is_same else by)

    def next_bound(self, session: Session, low: Any, rows: int) -> Any:
        """Return the key that ends a chunk from `low`; None if the chunk contains all other rows.

        Args:
            session: the session for the query.
            low: the chunk's first possible key; None for the first key of the table.
            rows: the wanted number of rows in the chunk.
        """
        if self.column is None:
            return None
        name, table = quoted(self.column.name), _from(self.table.id)
        where = f" WHERE {name} >= {literal(low)}" if low is not None else self._not_null(name)
        ordered = f"SELECT {name} FROM {table}{where} ORDER BY {name}"  # noqa: S608 - quoted
        first = self._one(session, f"{ordered} LIMIT 1")
        if first is None:
            return None
        bound = self._one(session, f"{ordered} LIMIT 1 OFFSET {rows}")
        if bound is None or self._differ(session, bound, first):
            return bound
        # More rows than the chunk size have the same value in the first key column.
        where = f" WHERE {name} > {literal(first)}"
        behind = f"SELECT {name} FROM {table}{where} ORDER BY {name}"  # noqa: S608 - quoted
        return self._one(session, f"{behind} LIMIT 1")

    def condition(self, low: Any, high: Any) -> str:
        """Return the WHERE clause of a chunk; empty if the chunk has no bound."""
        if self.column is None:
            return ""
        name = quoted(self.column.name)
        parts = [f"{name} >= {literal(low)}"] if low is not None else []
        if high is not None:
            first = low is None and self.column.nullable
            parts.append(f"({name} < {literal(high)}{f' OR {name} IS NULL' if first else ''})")
        return f" WHERE {' AND '.join(parts)}" if parts else ""

    def _not_null(self, name: str) -> str:
        """Return a WHERE clause without NULL, which only keys of tables without one can have."""
        return f" WHERE {name} IS NOT NULL" if self.column and self.column.nullable else ""

    def _differ(self, session: Session, key: Any, other: Any) -> bool:
        return key != other and self.order.below(session, [other], key)[0]

    def _one(self, session: Session, sql: str) -> Any:
        if self.column is None:
            return None
        if self.column.type.name in _TEXTS:
            found = session.row(sql)
            return found[0] if found else None
        name = quoted(self.column.name)
        binary = self.column.type.name in ("binary", "varbinary")
        text = name if binary else f"CAST({name} AS CHAR)"
        found = session.row(f"SELECT {text} FROM ({sql}) AS bound")  # noqa: S608 - quoted
        if found is None:
            return None
        value = found[0] if isinstance(found[0], bytes) else str(found[0]).encode()
        return parser(self.column)(value)


def chunk_key(session: Session, table: TableSchema, spec: SourceSpec) -> ChunkKey:
    """Return the chunk key of a table.

    Raises:
        StreamtableError: TABLE_UNREADABLE if the table has no key, or the requested column is
            not part of it.
    """
    key = spec.row_key(table)
    if not key:
        raise StreamtableError(
            Condition.TABLE_UNREADABLE,
            hint="add one, or name its columns: primary-keys of a transform, PRIMARY KEY in SQL",
            table=table.id,
            reason="it has no primary key, which a snapshot goes by",
        )
    name = key[0]
    for pattern, wanted in spec.chunk_keys:
        if Patterns([pattern]).match(table.id):
            name = wanted
    if name not in key:
        raise StreamtableError(
            Condition.TABLE_UNREADABLE,
            hint="name a column of the key in 'scan.incremental.snapshot.chunk.key-column'",
            table=table.id,
            reason=f"{name} is not in its key, so rows could move between chunks",
        )
    column = table.columns[table.places[name]]
    if column.type.name in _ORDERED:
        return ChunkKey(table, column, KeyOrder(name, value_kind(column.type)))
    if column.type.name in _TEXTS:
        return ChunkKey(table, column, KeyOrder.of_text(name, _collation(session, table.id, name)))
    return ChunkKey(table, None, KeyOrder())


def _collation(session: Session, table: TableId, column: str) -> str:
    found = session.row(
        "SELECT collation_name FROM information_schema.columns"
        " WHERE table_schema = %s AND table_name = %s AND column_name = %s",
        (*table, column),
    )
    return str(found[0]) if found else "utf8mb4_bin"


def _from(table: TableId) -> str:
    return f"{quoted(table.database)}.{quoted(table.table)}"
