"""The tables to read and their server: the value that driver and tasks share."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection
from dataclasses import dataclass

from streamtable.connectors.mysql_cdc.names import StartupMode
from streamtable.connectors.mysql_cdc.reader.discover import Patterns
from streamtable.connectors.mysql_cdc.reader.model import TableId, TableSchema
from streamtable.connectors.mysql_cdc.reader.settings import MySqlSettings


@dataclass(frozen=True)
class Startup:
    """Start position of a first run.

    Attributes:
        file: binlog of the mode `specific-offset`, with `pos`.
        gtid: GTID set of that mode, instead of file and position.
        timestamp_ms: epoch milliseconds of the mode `timestamp`.
    """

    mode: StartupMode = StartupMode.INITIAL
    file: str | None = None
    pos: int | None = None
    gtid: str | None = None
    timestamp_ms: int | None = None


def every_column(table: TableId, column: str) -> bool:  # noqa: ARG001
    """Select all columns."""
    return True


@dataclass(frozen=True)
class SourceSpec:
    """Tables of a server and their read settings. It contains the password, which no text shows.

    Attributes:
        patterns: regular expressions over `database.table`.
        excluded: regular expressions of tables that are excluded from the matches.
        chunk_size: rows of a chunk of the snapshot.
        fetch_size: rows per fetch.
        chunk_keys: pairs of a pattern and the key column that divides its tables into chunks, if it
            is not the first column.
        row_keys: pairs of a pattern and the columns that identify a row of its tables, for tables
            without a primary key. The first pattern that matches a table counts.
        batch_rows: the approximate number of snapshot rows in a batch.
        batch_bytes: the approximate number of binlog bytes in a batch.
        tasks: the number of tasks that read chunks in parallel.
        snapshot_new_tables: whether patterns may differ from those of the checkpoint; the rows of
            added tables are then read first (`scan.newly-added-table.enabled`).
        starts_over: whether a table to which a RENAME gives other rows gets a snapshot of them
            (`Offset.renamed`). Otherwise a RENAME of a table with an incomplete snapshot is an
            error.
        columns: whether to read a column of a table; rows have None in place of other columns.
        poll_seconds: the wait if there are no new changes.
    """

    settings: MySqlSettings
    patterns: tuple[str, ...]
    startup: Startup = Startup()
    excluded: tuple[str, ...] = ()
    chunk_size: int = 8096
    fetch_size: int = 1024
    chunk_keys: tuple[tuple[str, str], ...] = ()
    row_keys: tuple[tuple[str, tuple[str, ...]], ...] = ()
    batch_rows: int = 500_000
    batch_bytes: int = 64 << 20
    tasks: int = 2
    snapshot_new_tables: bool = False
    starts_over: bool = False
    columns: Callable[[TableId, str], bool] = every_column
    poll_seconds: float = 0.1

    def tables(self) -> Tables:
        """Return the selection of tables to read."""
        return Tables(Patterns(self.patterns), Patterns(self.excluded))

    def row_key(self, table: TableSchema) -> tuple[str, ...]:
        """Return the columns that identify a row of a table; empty if there are none."""
        if table.primary_key:
            return table.primary_key
        for pattern, columns in self.row_keys:
            if Patterns([pattern]).match(table.id):
                return columns if all(name in table.places for name in columns) else ()
        return ()

    def reads(self, table: TableId, column: str, key: Collection[str]) -> bool:
        """Return whether to read a column; the snapshot needs those of the primary key."""
        return column in key or self.columns(table, column)

    @property
    def snapshot_tasks(self) -> int:
        """How many tasks may read chunks in parallel, besides the task of the binlog."""
        readers = self.settings.readers
        return self.tasks if readers is None else max(1, min(self.tasks, readers - 1))

    def server_id(self, reader: int) -> int:
        """Return the server id of a batch's part."""
        ids = self.settings.server_ids
        if ids is None:
            return random.randrange(1 << 24, 1 << 31)  # noqa: S311 - no secret
        return ids[0] + reader % (ids[1] - ids[0] + 1)


@dataclass(frozen=True)
class Tables:
    """The tables that a reader selects; called with a table's name."""

    included: Patterns
    excluded: Patterns

    def __call__(self, table: TableId) -> bool:
        """Return whether to read a table."""
        return self.included.match(table) and not self.excluded.match(table)
