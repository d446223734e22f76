"""Read a part of a batch in a worker.

A chunk is emitted as it was at the batch's end position P, at whatever time it is read. Its rows
are selected without a lock at some time S after P. Every key that has a change in the binlog
between P and S is then reset to its state at P: the row before the key's first change after P, or
no row if that change is an insert. A second read selects at another time and emits the same rows.

A transaction is in the binlog shortly before other sessions see it, so the selection could miss a
transaction before P. MariaDB reports the position that a transaction sees. Other servers do not.
For them, keys with changes from the previous batch up to P get the row after their last change, and
the planner waits a second in between. Tables without transactions (MyISAM, Aria) are read in the
same way.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pymysql

from streamtable.connectors.mysql_cdc.names import ANEW
from streamtable.connectors.mysql_cdc.reader.binlog.changes import changes
from streamtable.connectors.mysql_cdc.reader.connect import (
    Session,
    as_fault,
    is_table_changed,
    session,
)
from streamtable.connectors.mysql_cdc.reader.discover import schema_of
from streamtable.connectors.mysql_cdc.reader.key_order import key_changed
from streamtable.connectors.mysql_cdc.reader.keys import ChunkKey, chunk_key
from streamtable.connectors.mysql_cdc.reader.model import (
    Change,
    Position,
    Row,
    SchemaChange,
    TableSchema,
)
from streamtable.connectors.mysql_cdc.reader.offsets import (
    BinlogPart,
    Chunk,
    ChunkPart,
    Part,
    ReadPart,
)
from streamtable.connectors.mysql_cdc.reader.pending import only_read, renamed
from streamtable.connectors.mysql_cdc.reader.server import Server, snapshot_position
from streamtable.connectors.mysql_cdc.reader.spec import SourceSpec
from streamtable.connectors.mysql_cdc.reader.values.snapshot_values import (
    Parse,
    parser,
    quoted,
    selected,
)
from streamtable.connectors.mysql_cdc.reader.values.types import value_kind
from streamtable.core.errors import Condition, StreamtableError

_ATTEMPTS = 5

#: By key: the table's columns and the row; None if there is no row.
Overlay = dict[Row, tuple[TableSchema, Row] | None]


def read(spec: SourceSpec, part: Part) -> Iterator[Change | SchemaChange]:
    """Read the changes of a part; changes of the same key keep their order.

    Args:
        spec: the spec of the batch's planner.
        part: a part from `parts`.

    Raises:
        StreamtableError: DATA_LOST, DATABASE_NOT_READY, TABLE_UNREADABLE, DATABASE_REFUSED or
            DATABASE_UNREACHABLE.
    """
    if isinstance(part, ChunkPart):
        return _chunks(spec, part)
    if isinstance(part, ReadPart):
        return iter(part.changes)
    return _binlog(spec, part)


def _binlog(spec: SourceSpec, part: BinlogPart) -> Iterator[Change | SchemaChange]:
    found = changes(
        spec,
        part.start,
        part.end,
        spec.server_id(part.reader),
        spec.tables(),
        part.server,
    )
    if part.takes_all:
        yield from found
        return
    with session(spec.settings) as catalog:
        yield from only_read(spec, found, part, catalog)


def _chunks(spec: SourceSpec, part: ChunkPart) -> Iterator[Change]:
    with session(spec.settings) as catalog:
        catalog.require(part.server)
        for chunk in part.chunks:
            yield from _Reading(spec, part, chunk, catalog).rows()


def _parsed(table: TableSchema, parsers: Sequence[Parse], raw: Sequence[bytes | None]) -> Row:
    """Return the values of a selected row.

    Raises:
        StreamtableError: TABLE_UNREADABLE if a value cannot be parsed.
    """
    values: list[Any] = []
    try:
        for parse, value in zip(parsers, raw, strict=True):
            values.append(None if value is None else parse(value))
    except (ValueError, ArithmeticError) as error:
        raise StreamtableError(
            Condition.TABLE_UNREADABLE,
            table=table.id,
            reason=f"column {table.columns[len(values)].name}: {error}",
        ) from error
    return tuple(values)


class _Reading:
    """The read of one chunk."""

    def __init__(self, spec: SourceSpec, part: ChunkPart, chunk: Chunk, catalog: Session) -> None:
        self._spec = spec
        self._part = part
        self._chunk = chunk
        self._catalog = catalog
        self._keys: dict[int, tuple[TableSchema, tuple[int, ...]]] = {}
        self._key_text = ""

    def rows(self) -> Iterator[Change]:
        """Yield the rows of the chunk as of the part's end."""
        for attempt in range(_ATTEMPTS):
            table = schema_of(self._catalog, self._chunk.table)
            if table is None:
                self._check_missing()
                return
            key = chunk_key(self._catalog, table, self._spec)
            self._key_text = ""
            try:
                rows, overlay = self._select(table, key)
            except pymysql.err.Error as error:
                if is_table_changed(error) and attempt < _ATTEMPTS - 1:
                    continue
                raise as_fault(error, self._spec.settings) from error
            if overlay is None:
                return
            if (self._chunk.low, self._chunk.high) != (None, None):
                key.require_order(self._part.orders)
            yield from self._given(table, key, rows, overlay)
            return

    def _check_missing(self) -> None:
        """Check that the table was dropped after the end, whose DROP the next changes have."""
        if not self._spec.starts_over:
            server = Server(self._catalog, self._spec.server_id(self._part.reader))
            self._overlay(self._part.end, server.position())

    def _select(self, table: TableSchema, key: ChunkKey) -> tuple[list[Row], Overlay | None]:
        """Select the chunk's rows after the end, with the binlog's changes of their keys."""
        server = Server(self._catalog, self._spec.server_id(self._part.reader))
        reader = Session(self._spec.settings)
        try:
            reader.require(self._part.server)
            if server.exact and table.engine.lower() == "innodb":
                seen = snapshot_position(reader, keep=True)
                rows = list(self._rows(reader, table, key))
                return rows, self._overlay(self._part.end, seen)
            rows = list(self._rows(reader, table, key))
            return rows, self._overlay(self._part.settled, server.position())
        finally:
            reader.close()

    def _rows(self, reader: Session, table: TableSchema, key: ChunkKey) -> Iterator[Row]:
        columns = ", ".join(
            selected(column)
            if self._spec.reads(table.id, column.name, table.primary_key)
            else "NULL"
            for column in table.columns
        )
        name = f"{quoted(table.id.database)}.{quoted(table.id.table)}"
        where = key.condition(self._chunk.low, self._chunk.high)
        parsers = [parser(column) for column in table.columns]
        with reader.raw() as cursor:
            cursor.execute(f"SELECT {columns} FROM {name}{where}")  # noqa: S608 - quoted
            while block := cursor.fetchmany(self._spec.fetch_size):
                for raw in block:
                    yield _parsed(table, parsers, raw)

    def _overlay(self, start: Position, seen: Position) -> Overlay | None:
        """Return the rows as of the part's end, from the changes between two binlog positions.

        Returns:
            The rows; None if a RENAME has replaced the table, and its snapshot starts over.

        Raises:
            StreamtableError: TABLE_UNREADABLE if a RENAME has given or taken the table's rows, and
                its snapshot does not start over.
        """
        found: Overlay = {}
        end = self._part.end.ordinal
        moments = changes(
            self._spec,
            start,
            seen,
            self._spec.server_id(self._part.reader),
            lambda table: table == self._chunk.table,
            self._part.server,
        )
        for change in moments:
            if isinstance(change, SchemaChange):
                if change.ordinal <= end:
                    if self._waited(change):
                        found.clear()
                        self._key_text = ""
                    continue
                if change.kind == "rename" and not self._spec.starts_over:
                    raise renamed(change, self._chunk.table)
                if change.kind == "rename" and change.new_name == self._chunk.table:
                    return None
                continue
            if change.ordinal < end:
                if change.before is not None:
                    found[self._key(change.table, change.before)] = None
                if change.after is not None:
                    found[self._key(change.table, change.after)] = change.table, change.after
                continue
            if change.before is not None:
                found.setdefault(
                    self._key(change.table, change.before), (change.table, change.before)
                )
            if change.after is not None:
                found.setdefault(self._key(change.table, change.after), None)
        return found

    def _waited(self, change: SchemaChange) -> bool:
        """Return whether a statement locked the table, so that the selection saw all before it."""
        if change.kind == "database":
            return change.table.database == self._chunk.table.database
        return change.kind != "create"  # it does not wait if the table exists

    def _given(
        self, table: TableSchema, key: ChunkKey, rows: list[Row], overlay: Overlay
    ) -> Iterator[Change]:
        at = self._part.end.ordinal
        for row in rows:
            name = self._key(table, row)
            if name not in overlay:
                yield Change(table, "r", None, row, 0, at)
                continue
            known = overlay.pop(name)
            if known is not None:
                yield Change(known[0], "r", None, known[1], 0, at)
        others = [found for found in overlay.values() if found is not None]
        values = [key.order.value(version, row) for version, row in others]
        for (version, row), inside in zip(others, self._inside(key, values), strict=True):
            if inside:
                yield Change(version, "r", None, row, 0, at)

    def _inside(self, key: ChunkKey, values: list[Any]) -> list[bool]:
        low, high = self._chunk.low, self._chunk.high
        inside = [True] * len(values)
        if low is not None:
            inside = [not below for below in key.order.below(self._catalog, values, low)]
        if high is not None:
            below = key.order.below(self._catalog, values, high)
            inside = [a and b for a, b in zip(inside, below, strict=True)]
        return inside

    def _key(self, table: TableSchema, row: Row) -> Row:
        """Return the values that identify a row, whose columns are those of a table's version."""
        known = self._keys.get(id(table))
        if known is None:
            names = self._spec.row_key(table)
            if not names:
                raise StreamtableError(
                    Condition.TABLE_UNREADABLE,
                    hint=ANEW,
                    table=table.id,
                    reason="its primary key was dropped while its rows were being read",
                )
            places = tuple(table.places[name] for name in names)
            self._require_key(table, places)
            # The cache also keeps the table object, so that Python does not reuse its id.
            known = self._keys[id(table)] = table, places
        return tuple(row[place] for place in known[1])

    def _require_key(self, table: TableSchema, places: Sequence[int]) -> None:
        """Raise TABLE_UNREADABLE if versions of the table identify their rows in different ways."""
        columns = [table.columns[place] for place in places]
        text = ", ".join(f"{column.name} ({value_kind(column.type)})" for column in columns)
        if self._key_text not in ("", text):
            raise key_changed(table.id, self._key_text, text)
        self._key_text = text
