"""DDL statements for a job's tables in a binlog range."""

from __future__ import annotations

from collections.abc import Iterable

from streamtable.connectors.mysql_cdc.reader import (
    Change,
    Position,
    SchemaChange,
    SourceSpec,
    TableId,
)
from streamtable.connectors.mysql_cdc.reader.binlog.ddl import tables_of
from streamtable.connectors.mysql_cdc.reader.binlog.stream import FRAME, stream

#: (kind, table, new name) of a `SchemaChange`.
Definition = tuple[str, TableId, TableId | None]


def definitions(spec: SourceSpec, start: Position, end: Position, server: str) -> list[Definition]:
    """Return the DDL statements between two positions for the tables that the job copies.

    Rows are skipped without decoding. The new name of a rename is set if the job copies that table.

    Args:
        spec: the source.
        start: the begin of the range.
        end: the end of the range.
        server: the UUID of the server that has these positions; empty if it has none.

    Raises:
        StreamtableError: DATABASE_UNREACHABLE, DATABASE_REFUSED or DATA_LOST.
    """
    found: list[Definition] = []
    with stream(spec.settings, start, spec.server_id(0), FRAME, server) as events:
        while (event := events.next()) is not None:
            if hasattr(event, "query"):
                database = event.schema.decode(errors="replace")
                found += tables_of(event.query, database)
            if Position(events.file, events.pos).order >= end.order:
                break
    return _wanted(spec, found)


def definitions_of(spec: SourceSpec, changes: Iterable[Change | SchemaChange]) -> list[Definition]:
    """Return the DDL statements among changes, as `definitions` does."""
    return _wanted(
        spec, ((c.kind, c.table, c.new_name) for c in changes if isinstance(c, SchemaChange))
    )


def _wanted(spec: SourceSpec, found: Iterable[Definition]) -> list[Definition]:
    wanted = spec.tables()
    named = (
        (kind, table, new if new is not None and wanted(new) else None)
        for kind, table, new in found
    )
    return [
        (kind, table, new)
        for kind, table, new in named
        if wanted(table) or new is not None or kind == "database"
    ]
