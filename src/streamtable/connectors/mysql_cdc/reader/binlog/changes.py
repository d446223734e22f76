"""Changes between two positions of the binlog."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from pymysqlreplication.event import (
    FormatDescriptionEvent,
    MariadbBinLogCheckPointEvent,
    MariadbGtidListEvent,
    PreviousGtidsEvent,
    QueryEvent,
    RotateEvent,
    StopEvent,
)
from pymysqlreplication.row_event import (
    DeleteRowsEvent,
    PartialUpdateRowsEvent,
    TableMapEvent,
    UpdateRowsEvent,
    WriteRowsEvent,
)

from streamtable.connectors.mysql_cdc.names import ANEW
from streamtable.connectors.mysql_cdc.reader.binlog.column_types import UnreadableTable
from streamtable.connectors.mysql_cdc.reader.binlog.ddl import mentions, tables_of
from streamtable.connectors.mysql_cdc.reader.binlog.row_format import (
    RowFormat,
    complete,
)
from streamtable.connectors.mysql_cdc.reader.binlog.stream import FRAME, Stream
from streamtable.connectors.mysql_cdc.reader.connect import Session, session
from streamtable.connectors.mysql_cdc.reader.discover import schema_of
from streamtable.connectors.mysql_cdc.reader.model import (
    Change,
    Position,
    SchemaChange,
    TableId,
    TableSchema,
    file_number,
    ordinal,
)
from streamtable.connectors.mysql_cdc.reader.spec import SourceSpec
from streamtable.core.errors import Condition, InternalError, StreamtableError

_ROWS = (DeleteRowsEvent, PartialUpdateRowsEvent, UpdateRowsEvent, WriteRowsEvent)
#: Events at the begin and the end of a file. The end of a range may be between them.
_OF_FILES = (
    FormatDescriptionEvent,
    MariadbBinLogCheckPointEvent,
    MariadbGtidListEvent,
    PreviousGtidsEvent,
    StopEvent,
)
_EVENTS = (*FRAME, *_OF_FILES, TableMapEvent, *_ROWS)
#: The columns of MariaDB's sequences, which the binlog has like tables.
_SEQUENCE = [
    "next_not_cached_value",
    "minimum_value",
    "maximum_value",
    "start_value",
    "increment",
    "cache_size",
    "cycle_option",
    "cycle_count",
]
#: Bytes of an event before its body.
_HEADER = 19

#: Cache of table schemas in this process, by server and name.
_SCHEMAS: dict[tuple[str, TableId], TableSchema | None] = {}

Wanted = Callable[[TableId], bool]


def changes(
    spec: SourceSpec,
    start: Position,
    end: Position,
    server_id: int,
    wanted: Wanted,
    server: str = "",
) -> Iterator[Change | SchemaChange]:
    """Read the changes of tables after `start` up to `end`, in the order of the binlog.

    The same arguments give the same changes, as long as the server keeps its binlogs.

    Args:
        spec: the server and the columns to read.
        start: a position between two transactions.
        end: a position between two transactions, not before `start`.
        server_id: the server id of this reader.
        wanted: selects the tables to read.
        server: the UUID of the server that has these positions; empty if it has none.

    Raises:
        StreamtableError: DATA_LOST if the server no longer has the range; DATABASE_NOT_READY if the
            binlog lacks metadata for reading rows; TABLE_UNREADABLE; DATABASE_UNREACHABLE.
    """
    if end.order <= start.order:
        return
    forget_schemas()  # another process may have read an ALTER of this server since
    with session(spec.settings) as catalog:
        run = BinlogRun(spec, start, server_id, wanted, catalog, server=server)
        try:
            yield from run.until(end)
        finally:
            run.close()


class BinlogRun:
    """One run over the binlog, which returns the changes of consecutive ranges.

    Args:
        spec: the server and the columns to read.
        start: a position between two transactions.
        server_id: the server id of this reader.
        wanted: selects the tables to read.
        catalog: a session for queries.
        server: the UUID that the server must have; empty for any.
        follow: whether the run may stay open at the end of the binlog; see `Stream`.
    """

    def __init__(
        self,
        spec: SourceSpec,
        start: Position,
        server_id: int,
        wanted: Wanted,
        catalog: Session,
        *,
        server: str = "",
        follow: bool = False,
    ) -> None:
        self._settings = spec.settings
        self._events = Stream(
            spec.settings, start, server_id, _EVENTS, server=server, follow=follow
        )
        self._reading = _Reading(spec, wanted, catalog, start.file)

    @property
    def at(self) -> Position:
        """The end of the last event."""
        return Position(self._events.file, self._events.pos)

    def until(self, end: Position) -> Iterator[Change | SchemaChange]:
        """Yield the changes up to a position between two transactions.

        Raises:
            StreamtableError: see `changes`.
        """
        events, reading = self._events, self._reading
        while (event := events.next()) is not None:
            if isinstance(event, RotateEvent):
                if reading.file != event.next_binlog:
                    events.forget_tables()
                    reading.next_file(event.next_binlog)
                reached = file_number(event.next_binlog), int(event.position)
                if reached >= end.order:
                    return
                continue
            yield from reading.take(event)
            if (file_number(reading.file), event.packet.log_pos) >= end.order:
                return
        raise StreamtableError(
            Condition.DATA_LOST,
            hint=f"the server lost the end of its binlog; {ANEW}",
            table=f"the reader of MySQL at {self._settings.server}",
            reason=f"its binlog ends at {events.file}:{events.pos}, before {end}",
        )

    def close(self) -> None:
        """Close the connections of the stream."""
        self._events.close()


def forget_schemas() -> None:
    """Forget the schemas of all tables, after a range that this process has not read."""
    _SCHEMAS.clear()


class _Reading:
    """The tables that one run over the binlog has read."""

    def __init__(self, spec: SourceSpec, wanted: Wanted, catalog: Session, file: str) -> None:
        self.file = file
        self._spec = spec
        self._settings = spec.settings
        self._wanted = wanted
        self._catalog = catalog
        self._formats: dict[int, RowFormat | None] = {}

    def next_file(self, file: str) -> None:
        self.file = file
        self._formats.clear()

    def take(self, event: Any) -> Iterator[Change | SchemaChange]:
        if isinstance(event, TableMapEvent):
            self._formats[event.table_id] = self._format(event)
        elif isinstance(event, QueryEvent):
            yield from self._statement(event)
        elif isinstance(event, _ROWS):
            if event.table_id not in self._formats:
                place = f"{self.file}:{event.packet.log_pos}"
                msg = f"rows of table number {event.table_id} at {place} without a table map"
                raise InternalError(msg)
            found = self._formats[event.table_id]
            if found is not None:
                yield from self._rows(event, found)

    def _format(self, event: TableMapEvent) -> RowFormat | None:
        table = TableId(event.schema, event.table)
        if not self._wanted(table) or [c.name for c in event.columns] == _SEQUENCE:
            return None
        try:
            return RowFormat(event, self._known(event, table), self._spec.reads)
        except UnreadableTable as error:
            raise StreamtableError(
                Condition.TABLE_UNREADABLE,
                table=table,
                reason=f"{self.file}:{event.packet.log_pos}: {error}",
            ) from None

    def _known(self, event: TableMapEvent, table: TableId) -> TableSchema | None:
        """Return the current schema of the table; query it again if its columns have changed."""
        place = self._settings.server, table
        found = _SCHEMAS.get(place)
        if found is None or [c.name for c in found.columns] != [c.name for c in event.columns]:
            found = _SCHEMAS[place] = schema_of(self._catalog, table)
        return found

    def _statement(self, event: QueryEvent) -> Iterator[SchemaChange]:
        database = event.schema.decode(errors="replace")
        if mentions(event.query, database, self._wanted):
            raise StreamtableError(
                Condition.DATABASE_NOT_READY,
                hint="SET GLOBAL binlog_format = 'ROW', and let no session set another",
                url=self._settings.server,
                reason=f"{self.file}:{event.packet.log_pos} has a statement instead of its rows",
            )
        place = ordinal(self.file, event.packet.log_pos)
        for kind, table, new_name in tables_of(event.query, database):
            known = self._wanted(table) or (new_name is not None and self._wanted(new_name))
            if known or kind == "database":
                # A changed table gets a new table number. The library does not report known numbers
                # again.
                forget_schemas()
                yield SchemaChange(
                    kind, table, new_name, event.query, event.timestamp * 1000, place
                )

    def _rows(self, event: Any, found: RowFormat) -> Iterator[Change]:
        width = len(found.table.columns)
        updates = isinstance(event, UpdateRowsEvent)
        bitmaps = [event.columns_present_bitmap]
        if updates:
            bitmaps.append(event.columns_present_bitmap2)
        if isinstance(event, PartialUpdateRowsEvent) or not all(
            complete(b, width) for b in bitmaps
        ):
            raise StreamtableError(
                Condition.DATABASE_NOT_READY,
                hint="SET GLOBAL binlog_row_image = 'FULL', binlog_row_value_options = ''",
                url=self._settings.server,
                reason=f"{self.file}:{event.packet.log_pos} has parts of rows only",
            )
        packet = event.packet
        begin = packet.log_pos - packet.event_size + _HEADER + packet.read_bytes
        place = ordinal(self.file, begin)
        data = packet.read(event.event_size - packet.read_bytes)
        table, at = found.table, event.timestamp * 1000
        try:
            if updates:
                for offset, before, after in found.rows(data, pairs=True):
                    yield Change(table, "u", before, after, at, place + offset)
            elif isinstance(event, DeleteRowsEvent):
                for offset, row, _ in found.rows(data, pairs=False):
                    yield Change(table, "d", row, None, at, place + offset)
            else:
                for offset, row, _ in found.rows(data, pairs=False):
                    yield Change(table, "c", None, row, at, place + offset)
        except UnreadableTable as error:
            raise StreamtableError(
                Condition.TABLE_UNREADABLE,
                table=table.id,
                reason=f"a row at {self.file}:{begin}: {error}",
            ) from error
