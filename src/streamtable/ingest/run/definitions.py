"""DDL statements for a job's tables in a binlog range."""

from __future__ import annotations

from streamtable.connectors.mysql_cdc.reader import Position, SourceSpec, TableId
from streamtable.connectors.mysql_cdc.reader.binlog.ddl import tables_of
from streamtable.connectors.mysql_cdc.reader.binlog.stream import FRAME, stream

#: (kind, table, new name) of a `SchemaChange`.
Definition = tuple[str, TableId, TableId | None]


def definitions(spec: SourceSpec, start: Position, end: Position) -> list[Definition]:
    """Return the DDL statements between two positions for the tables that the job copies.

    Rows are skipped without decoding. The new name of a rename is set if the job copies that table.

    Raises:
        StreamtableError: DATABASE_UNREACHABLE, DATABASE_REFUSED or DATA_LOST.
    """
    wanted = spec.tables()
    found: list[Definition] = []
    with stream(spec.settings, start, spec.server_id(0), FRAME) as events:
        while (event := events.next()) is not None:
            if hasattr(event, "query"):
                database = event.schema.decode(errors="replace")
                for kind, table, new_name in tables_of(event.query, database):
                    new = new_name if new_name is not None and wanted(new_name) else None
                    if wanted(table) or new is not None:
                        found.append((kind, table, new))
            if Position(events.file, events.pos).order >= end.order:
                break
    return found
