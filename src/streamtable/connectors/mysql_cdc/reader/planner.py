"""Plan batches in the driver: from one offset to the next."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from streamtable.connectors.mysql_cdc.names import StartupMode
from streamtable.connectors.mysql_cdc.reader.chunks import ChunkPlanner
from streamtable.connectors.mysql_cdc.reader.connect import Session
from streamtable.connectors.mysql_cdc.reader.discover import Patterns, schemas
from streamtable.connectors.mysql_cdc.reader.follower import Follower
from streamtable.connectors.mysql_cdc.reader.model import (
    Change,
    Position,
    SchemaChange,
    TableId,
)
from streamtable.connectors.mysql_cdc.reader.offsets import Offset, Part
from streamtable.connectors.mysql_cdc.reader.server import Server, moved
from streamtable.connectors.mysql_cdc.reader.spec import SourceSpec, Tables
from streamtable.core.errors import Condition, StreamtableError

#: How long a transaction may be in the binlog before other sessions see it, in seconds. It applies
#: to servers that do not report it (`Server.exact`).
_SETTLES = 1.0


class Planner:
    """Plans the batches of one source.

    The planner keeps its connections from batch to batch: one for queries and, while batches of
    the binlog are small, those of a stream. It makes a broken connection anew.

    Args:
        spec: the tables to read.

    Raises:
        StreamtableError: DATABASE_UNREACHABLE or DATABASE_LOGIN_FAILED.
    """

    def __init__(self, spec: SourceSpec) -> None:
        self.spec = spec
        self._tables = spec.tables()
        self._session = Session(spec.settings)
        self._server = Server(self._session, spec.server_id(0))
        self._follower = Follower(spec, self._session)
        self._target: Position | None = None
        self._latest: Position | None = None
        self._resumed = False
        self._begun_with: Offset | None = None
        self._chunks = ChunkPlanner(spec, self._session)
        self._planned_at = time.monotonic()

    def __enter__(self) -> Planner:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def initial(self) -> Offset:
        """Return the start offset of a first run.

        Raises:
            StreamtableError: DATA_LOST if the server does not have the requested position.
        """
        startup, server = self.spec.startup, self._server
        position = server.position()
        pending: dict[TableId, Any] = {}
        match startup.mode:
            case StartupMode.INITIAL | StartupMode.SNAPSHOT:
                found = schemas(self._session, Patterns(self.spec.patterns))
                pending = {table.id: None for table in found if self._tables(table.id)}
            case StartupMode.EARLIEST:
                position = server.earliest()
            case StartupMode.TIMESTAMP:
                position = server.of_timestamp(startup.timestamp_ms or 0)
            case StartupMode.SPECIFIC if startup.gtid:
                position = server.of_gtid(startup.gtid)
            case StartupMode.SPECIFIC:
                position = Position(startup.file or "", startup.pos or 4)
                server.require(position)
        self._planned_at = time.monotonic()
        self._resumed = True
        spec = self.spec
        return Offset(position, pending, (), server.uuid(), spec.patterns, excluded=spec.excluded)

    def stop_at_end(self) -> None:
        """End the run at the current end of the binlog, with complete snapshots.

        If a snapshot takes longer, its last batch ends after that position.
        """
        self._target = self._server.position()

    def behind(self, offset: Offset) -> int:
        """Return the bytes of binlog from an offset to the end that `next` has seen."""
        return self._server.distance(offset.position, self._latest or self._server.position())

    def ended(self, offset: Offset) -> bool:
        """Return whether nothing is left to read, now or later."""
        if offset.pending:
            return False
        if self.spec.startup.mode is StartupMode.SNAPSHOT:
            return True
        return self._target is not None and offset.position.order >= self._target.order

    def next(self, start: Offset) -> Offset:
        """Return the end of the batch after `start`; `start` itself if there is nothing to read.

        The batch after a restart may be empty: its end names the server and the tables of now.

        Raises:
            StreamtableError: DATA_LOST if the server no longer has `start`; an error of a table
                that has no snapshot; DATABASE_UNREACHABLE.
        """
        if self._resumed:
            try:
                return self._next(start)
            except StreamtableError as error:
                if error.condition is not Condition.DATABASE_UNREACHABLE:
                    raise
            # The server may be another one now.
            self.close()
            self._resumed = False
        return self._next(start)

    def without_chunks(self, end: Offset) -> Offset:
        """Return the batch that `next` has just returned without its chunks."""
        begun = self._begun_with
        assert begun is not None, "`next` has set it"  # noqa: S101
        return replace(end, pending=begun.pending, chunks=(), orders=begun.orders)

    def changes(self, start: Offset, end: Offset) -> Sequence[Change | SchemaChange] | None:
        """Read the changes of a batch that `next` has just returned.

        Returns:
            The changes; None if the tasks of the batch have to read them, because there are too
            many, or because tables have an incomplete snapshot.

        Raises:
            StreamtableError: see `read`.
        """
        return self._follower.read(start, end, self._server)

    def parts(self, start: Offset, end: Offset) -> Sequence[Part]:
        """Return the parts of a batch; those of `changes` contain the changes.

        A batch that a restart plans again may be one of another server, before a failover.

        Raises:
            StreamtableError: DATA_LOST if this server cannot give the changes of the batch.
        """
        if not self._resumed:
            end = self._here(start, end)
        return self._follower.parts(start, end)

    def _next(self, start: Offset) -> Offset:
        begin = None
        idle = start
        if not self._resumed:
            resumed = self._resume(start)
            if resumed.position != start.position:
                begin = resumed.position
            if resumed != start:
                idle = replace(resumed, chunks=(), begin=begin, renamed=())
            start = resumed
        self._begun_with = start
        if self.ended(start):
            return idle
        now = self._latest = self._server.position()
        if self._target is not None and not start.pending:
            now = min(now, self._target, key=lambda position: position.order)
        end = self._capped(start.position, now)
        if not start.pending:
            if end.order == start.position.order:
                self._follower.rest()
                time.sleep(self.spec.poll_seconds)
                return idle
            return self._behind(start, end, begin)
        if end.order < now.order or self._alternates(start, end):
            return self._behind(start, end, begin)  # changes before chunks
        if not self._server.exact:
            time.sleep(max(0.0, self._planned_at + _SETTLES - time.monotonic()))
        chunks, pending, orders = self._chunks.next(start, self._server.position)
        if self.spec.settings.readers == 1 and chunks:
            end = start.position
        behind = self._behind(start, end, begin)
        return replace(behind, pending=pending, chunks=chunks, orders=orders)

    def close(self) -> None:
        """Close the connections. The next query opens another."""
        self._follower.close()
        self._session.close()

    def _behind(self, start: Offset, end: Position, begin: Position | None) -> Offset:
        self._planned_at = time.monotonic()
        orders = {table: order for table, order in start.orders.items() if table in start.pending}
        return replace(start, position=end, chunks=(), begin=begin, renamed=(), orders=orders)

    def _alternates(self, start: Offset, end: Position) -> bool:
        """Return whether a single server id requires a batch of changes before one of chunks."""
        moved = start.position.order < end.order
        return self.spec.settings.readers == 1 and moved and bool(start.chunks)

    def _capped(self, start: Position, now: Position) -> Position:
        limit = self.spec.batch_bytes
        if now.order <= start.order:
            return start
        if start.file == now.file and now.pos - start.pos <= limit:
            return now
        if self._server.distance(start, now) <= limit:
            return now
        return self._server.boundary_behind(start, limit, now)

    def _here(self, start: Offset, end: Offset) -> Offset:
        """Return the end of a batch with the positions of this server."""
        uuid = self._server.uuid()
        if uuid == end.server:
            return end
        begin = moved(self._server, end.begin or start.position)
        position = moved(self._server, end.position)
        return replace(end, position=position, begin=begin, server=uuid)

    def _resume(self, start: Offset) -> Offset:
        """Check that the checkpoint's offset belongs to this server and these tables."""
        self._resumed = True
        self._chunks.forget()
        uuid = self._server.uuid()
        if uuid != start.server:
            position = moved(self._server, start.position)
            start = replace(start, position=position, server=uuid, begin=None)
        self._server.require(start.position)
        spec = self.spec
        if (start.patterns, start.excluded) == (spec.patterns, spec.excluded):
            return start
        if start.patterns != spec.patterns and not spec.snapshot_new_tables:
            raise StreamtableError(
                Condition.CHECKPOINT_MISMATCH,
                hint="'scan.newly-added-table.enabled' = 'true' adds tables to a checkpoint",
                checkpoint="of this job",
                difference=f"its tables were {', '.join(start.patterns)}",
            )
        excluded = spec.excluded if start.excluded is None else start.excluded
        former = Tables(Patterns(start.patterns), Patterns(excluded))
        new = {
            schema.id: None
            for schema in schemas(self._session, Patterns(spec.patterns))
            if self._tables(schema.id) and not former(schema.id)
        }
        kept = {table: low for table, low in start.pending.items() if self._tables(table)}
        return replace(
            start, pending={**kept, **new}, patterns=spec.patterns, excluded=spec.excluded
        )
