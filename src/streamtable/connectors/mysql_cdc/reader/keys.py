"""Chunk keys: the column that divides a table into chunks, chunk bounds, and key comparison.

This module compares numbers, times and bytes. The order of text depends on its collation, so the
server compares text. Tables whose first key column has another type are one chunk.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from streamtable.connectors.mysql_cdc.names import ANEW
from streamtable.connectors.mysql_cdc.reader.connect import Session
from streamtable.connectors.mysql_cdc.reader.discover import Patterns
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
#: The number of keys in one request to the server.
_AT_ONCE = 500


@dataclass(frozen=True)
class ChunkKey:
    """The division of one table into chunks.

    Attributes:
        column: the key column; None if the table is one chunk.
        collation: the collation of a text column, with its character set in front.
    """

    table: TableSchema
    column: Column | None
    collation: tuple[str, str] | None = None

    @property
    def place(self) -> int:
        """The column's position in a row."""
        return self.table.places[self.column.name] if self.column else 0

    @property
    def order(self) -> str:
        """The order of the keys: the column, and the kind of its values or its collation."""
        if self.column is None:
            return "a type without an order"
        kind = self.collation[1] if self.collation else value_kind(self.column.type)
        return f"{self.column.name} ({kind})"

    def has_order(self, orders: Mapping[TableId, str]) -> bool:
        """Return whether the table's chunks were planned in this order."""
        return orders.get(self.table.id, self.order) == self.order

    def require_order(self, orders: Mapping[TableId, str]) -> None:
        """Raise TABLE_UNREADABLE if the table's chunks were planned in another order."""
        if not self.has_order(orders):
            raise key_changed(self.table.id, orders[self.table.id], self.order)

    def value(self, table: TableSchema, row: Sequence[Any]) -> Any:
        """Return the key of a row that has the columns of a version of the table.

        Raises:
            StreamtableError: TABLE_UNREADABLE if the version has no such key.
        """
        if self.column is None:
            return None
        place = table.places.get(self.column.name)
        if place is None:
            raise StreamtableError(
                Condition.TABLE_UNREADABLE,
                hint=ANEW,
                table=table.id,
                reason=f"key column {self.column.name} was dropped while its rows were being read",
            )
        kind = value_kind(table.columns[place].type)
        if kind != value_kind(self.column.type):
            raise key_changed(table.id, self.order, f"{self.column.name} ({kind})")
        return row[place]

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

    def below(self, session: Session, keys: Sequence[Any], bound: Any) -> list[bool]:
        """Return whether each key is below a bound, in the table's own order; NULL is below."""
        if None in keys:
            known = iter(self.below(session, [key for key in keys if key is not None], bound))
            return [key is None or next(known) for key in keys]
        if self.collation is None:
            return [key < bound for key in keys]
        found: list[bool] = []
        high = self._collated(bound)
        for start in range(0, len(keys), _AT_ONCE):
            asked = keys[start : start + _AT_ONCE]
            row = session.row(f"SELECT {', '.join(f'{self._collated(k)} < {high}' for k in asked)}")
            found += [bool(answer) for answer in row or ()]
        return found

    def _not_null(self, name: str) -> str:
        """Return a WHERE clause without NULL, which only keys of tables without one can have."""
        return f" WHERE {name} IS NOT NULL" if self.column and self.column.nullable else ""

    def _differ(self, session: Session, key: Any, other: Any) -> bool:
        return key != other and self.below(session, [other], key)[0]

    def _collated(self, value: str) -> str:
        charset, collation = self.collation or ("", "")
        return f"CONVERT({literal(value)} USING {charset}) COLLATE {collation}"

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


def key_changed(table: TableId, former: str, now: str) -> StreamtableError:
    """Return the error for a table whose key has changed while its snapshot was running."""
    return StreamtableError(
        Condition.TABLE_UNREADABLE,
        hint=ANEW,
        table=table,
        reason=f"its key {former} was changed to {now} while its rows were being read",
    )


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
        return ChunkKey(table, column)
    if column.type.name in _TEXTS:
        return ChunkKey(table, column, _collation(session, table.id, name))
    return ChunkKey(table, None)


def _collation(session: Session, table: TableId, column: str) -> tuple[str, str]:
    found = session.row(
        "SELECT character_set_name, collation_name FROM information_schema.columns"
        " WHERE table_schema = %s AND table_name = %s AND column_name = %s",
        (*table, column),
    )
    charset, collation = found or ("utf8mb4", "utf8mb4_bin")
    return str(charset), str(collation)


def _from(table: TableId) -> str:
    return f"{quoted(table.database)}.{quoted(table.table)}"
