"""Reads small consecutive ranges of the binlog over one stream that stays open.

To open a stream takes several round trips over new connections. A job that follows the binlog plans
a batch every few hundred milliseconds, and each batch begins where the last one ended. The driver
therefore keeps the stream of the last batch.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import pymysql

from streamtable.connectors.mysql_cdc.reader.binlog.changes import BinlogRun, forget_schemas
from streamtable.connectors.mysql_cdc.reader.connect import Session
from streamtable.connectors.mysql_cdc.reader.model import Change, Position, SchemaChange
from streamtable.connectors.mysql_cdc.reader.offsets import (
    BinlogPart,
    Offset,
    Part,
    ReadPart,
    parts,
)
from streamtable.connectors.mysql_cdc.reader.server import Server
from streamtable.connectors.mysql_cdc.reader.spec import SourceSpec
from streamtable.core.errors import StreamtableError

#: The largest range of binlog that the driver reads itself, in bytes. Spark sends its changes to
#: the task, and recommends less than 1 MB for that.
_READ_BYTES = 512 << 10
#: Seconds without a read after which the stream is closed.
_IDLE_S = 60.0


class Follower:
    """The stream of a planner.

    A stream is used again only for a range that begins exactly where the stream stands, and only
    while the grants of the user are unchanged, because the server checks them when a stream begins.
    If a kept stream fails, a new one reads the whole range.

    Args:
        spec: the tables to read.
        catalog: the planner's session.
    """

    def __init__(self, spec: SourceSpec, catalog: Session) -> None:
        self._spec = spec
        self._wanted = spec.tables()
        self._catalog = catalog
        self._run: BinlogRun | None = None
        self._grants: list[tuple[Any, ...]] = []
        self._used_at = 0.0
        self._batch: ReadPart | None = None

    def read(
        self, start: Offset, end: Offset, server: Server
    ) -> Sequence[Change | SchemaChange] | None:
        """Read the changes of a batch; see `Planner.changes`."""
        self._batch = None
        begin = end.begin or start.position
        if (
            start.pending
            or end.pending
            or end.chunks
            or not begin.order < end.position.order
            or server.distance(begin, end.position) > _READ_BYTES
        ):
            self.close()  # a task may use its server id
            return None
        found = tuple(self._changes(begin, end.position, end.server))
        self._batch = ReadPart(begin, end.position, found)
        return found

    def parts(self, start: Offset, end: Offset) -> Sequence[Part]:
        """Return the parts of a batch; see `Planner.parts`."""
        planned = [self._with_changes(part) for part in parts(start, end)]
        if not all(isinstance(part, ReadPart) for part in planned):
            self.close()
        return planned

    def rest(self) -> None:
        """Close the stream if it has not been used for a while."""
        if self._run is not None and time.monotonic() - self._used_at > _IDLE_S:
            self.close()

    def close(self) -> None:
        """Close the stream. Other readers may use its server id, and change what it knows."""
        forget_schemas()
        if self._run is not None:
            with suppress(pymysql.err.Error, OSError):
                self._run.close()
            self._run = None

    def _with_changes(self, part: Part) -> Part:
        batch = self._batch
        if batch is None or not isinstance(part, BinlogPart) or not part.takes_all:
            return part
        return batch if (batch.start, batch.end) == (part.start, part.end) else part

    def _changes(self, start: Position, end: Position, uuid: str) -> list[Change | SchemaChange]:
        """Return the changes between two positions.

        Args:
            start: a position between two transactions.
            end: a position after `start` that the server has just reported.
            uuid: the UUID of the server; empty if it has none.

        Raises:
            StreamtableError: see `binlog.changes.changes`.
        """
        grants = self._catalog.rows("SHOW GRANTS")
        if self._run is not None and (self._run.at.order, self._grants) == (start.order, grants):
            with suppress(StreamtableError):
                return self._until(self._run, end)
        self.close()
        self._grants = grants
        run = self._run = BinlogRun(
            self._spec,
            start,
            self._spec.server_id(0),
            self._wanted,
            self._catalog,
            server=uuid,
            follow=True,
        )
        return self._until(run, end)

    def _until(self, run: BinlogRun, end: Position) -> list[Change | SchemaChange]:
        try:
            found = list(run.until(end))
        except BaseException:
            self.close()
            raise
        self._used_at = time.monotonic()
        if run.at.order != end.order:  # after a change of files
            self.close()
        return found
