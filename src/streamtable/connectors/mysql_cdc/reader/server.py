"""Queries to a server about its binlogs: current and past positions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pymysqlreplication.event import (
    GtidEvent,
    MariadbGtidEvent,
    NotImplementedEvent,
    RotateEvent,
)

from streamtable.connectors.mysql_cdc.names import ANEW
from streamtable.connectors.mysql_cdc.reader.binlog.gtids import joined
from streamtable.connectors.mysql_cdc.reader.binlog.stream import (
    FRAME,
    Transactions,
    purged,
    stream,
)
from streamtable.connectors.mysql_cdc.reader.connect import Session
from streamtable.connectors.mysql_cdc.reader.model import Position, file_number
from streamtable.core.errors import Condition, StreamtableError

#: The start of events in a binlog, after its magic number.
FIRST_BYTE = 4
#: The type of an event that the library does not read: a GTID with a tag (MySQL 8.3).
_TAGGED_GTID = 42


@dataclass(frozen=True)
class Server:
    """A server, over an open session.

    Attributes:
        server_id: the server id for reading its binlogs.
    """

    session: Session
    server_id: int

    @property
    def exact(self) -> bool:
        """Whether a transaction reports the binlog position that it sees (MariaDB).

        On other servers, a transaction may be in the binlog shortly before other sessions see it.
        """
        return self.session.is_mariadb

    def uuid(self) -> str:
        """Return the server's UUID; empty if it has none (MariaDB)."""
        return self.session.variable("server_uuid") or ""

    def position(self) -> Position:
        """Return the end of the binlog; on MariaDB, new transactions see everything before it.

        Raises:
            StreamtableError: DATABASE_NOT_READY if there is no binlog; DATABASE_REFUSED without the
                grant.
        """
        if self.exact:
            return snapshot_position(self.session)
        status = master_status(self.session)
        return Position(
            str(status["file"]), int(status["position"]), _flat(status.get("executed_gtid_set"))
        )

    def binlogs(self) -> list[tuple[str, int]]:
        """Return names and sizes in bytes, the oldest first."""
        return [(str(r[0]), int(r[1])) for r in self.session.rows("SHOW BINARY LOGS")]

    def require(self, position: Position) -> None:
        """Raise DATA_LOST if the server no longer has a position."""
        sizes = dict(self.binlogs())
        if position.file not in sizes:
            oldest = min(sizes, key=file_number, default="none")
            raise purged(str(position), self.session.settings, f"the oldest is {oldest}")
        if sizes[position.file] < position.pos:
            raise purged(
                str(position), self.session.settings, f"it has {sizes[position.file]} bytes"
            )

    def distance(self, start: Position, end: Position) -> int:
        """Return the bytes of binlog between two positions."""
        if start.file == end.file:
            return end.pos - start.pos
        between = 0
        for file, size in self.binlogs():
            if file_number(start.file) <= file_number(file) < file_number(end.file):
                between += size - (start.pos if file == start.file else 0)
        return between + end.pos

    def earliest(self) -> Position:
        """Return the oldest available position."""
        files = self.binlogs()
        if not files:
            raise _no_binlog(self.session)
        return Position(files[0][0], FIRST_BYTE)

    def boundary_behind(self, start: Position, limit: int, end: Position) -> Position:
        """Return the first transaction end at least `limit` bytes after `start`, at most `end`."""
        with stream(self.session.settings, start, self.server_id, FRAME) as events:
            transactions, read, last = Transactions(), 0, start
            gtids: list[str] | None = []
            while (event := events.next()) is not None:
                here = Position(events.file, events.pos)
                if isinstance(event, GtidEvent) and gtids is not None:
                    gtids.append(event.gtid)
                elif isinstance(event, NotImplementedEvent) and event.event_type == _TAGGED_GTID:
                    gtids = None
                if here.order >= end.order:
                    return end
                if here.file == last.file:
                    read += here.pos - last.pos
                last = here
                at_boundary = transactions.ends(event) or isinstance(event, RotateEvent)
                if at_boundary and read >= limit:
                    known = "" if gtids is None else joined(start.gtid, gtids)
                    return here._replace(gtid=known)
        return end

    def of_timestamp(self, timestamp_ms: int) -> Position:
        """Return the position of the first transaction at or after a second; else the end.

        Binlogs have a resolution of seconds, so all transactions of the time's own second are
        included.
        """
        second = timestamp_ms // 1000
        end = self.position()
        start = self.earliest()
        for file, _ in reversed(self.binlogs()):
            start = Position(file, FIRST_BYTE)
            if self._begins(start) < second:
                break
        with stream(self.session.settings, start, self.server_id, FRAME) as events:
            transactions, before = Transactions(), start
            while (event := events.next()) is not None:
                stamped = not isinstance(event, RotateEvent) and event.timestamp
                if stamped and event.timestamp >= second:
                    return before
                if transactions.ends(event) or isinstance(event, RotateEvent):
                    before = Position(events.file, events.pos)
                if before.order >= end.order:
                    break
        return end

    def _begins(self, start: Position) -> int:
        """Return the time of the first event with a timestamp in a binlog, in epoch seconds."""
        with stream(self.session.settings, start, self.server_id, FRAME) as events:
            while (event := events.next()) is not None:
                if event.timestamp and not isinstance(event, RotateEvent):
                    return int(event.timestamp)
        return 1 << 40

    def has(self, gtid: str) -> bool:
        """Return whether the server has all transactions of a GTID set of MySQL."""
        found = self.session.row("SELECT GTID_SUBSET(%s, @@GLOBAL.gtid_executed)", (gtid,))
        return bool(found and found[0])

    def of_gtid(self, gtid: str) -> Position:
        """Return the position of the first transaction that a GTID set lacks.

        Raises:
            StreamtableError: DATA_LOST if the server no longer has the transaction.
        """
        end = self.position()
        with stream(self.session.settings, Position("", 0, gtid), self.server_id, FRAME) as events:
            while (event := events.next()) is not None:
                if isinstance(event, GtidEvent | MariadbGtidEvent):
                    start = event.packet.log_pos - event.packet.event_size
                    return Position(events.file, start, gtid)
        return end._replace(gtid=gtid)


def moved(server: Server, position: Position) -> Position:
    """Return the position at a server of a position at another server, by its GTID set.

    Raises:
        StreamtableError: DATA_LOST if there is no GTID set, or the server does not have all
            transactions before the position.
    """
    if not position.gtid:
        lacking = f"there is no GTID set of {position}"
    elif not server.has(position.gtid):
        lacking = f"this one lacks transactions before {position}"
    else:
        return server.of_gtid(position.gtid)
    raise StreamtableError(
        Condition.DATA_LOST,
        hint=f"connect to the same server, wait until this one has caught up, or {ANEW}",
        table="the reader of MySQL",
        reason=f"the checkpoint is of another server, and {lacking}",
    )


def master_status(session: Session) -> dict[str, Any]:
    """Return SHOW MASTER STATUS, or its newer name if the server lacks the older one.

    Raises:
        StreamtableError: DATABASE_NOT_READY if binlogs are off.
    """
    try:
        found = session.named("SHOW MASTER STATUS")
    except StreamtableError as error:
        if "syntax" not in str(error):
            raise
        found = session.named("SHOW BINARY LOG STATUS")
    if found is None:
        raise _no_binlog(session)
    return found


def snapshot_position(session: Session, *, keep: bool = False) -> Position:
    """Begin a transaction on MariaDB and return the position that it sees.

    Args:
        session: a session of MariaDB.
        keep: whether the transaction stays open.
    """
    session.rows("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ")
    session.rows("START TRANSACTION WITH CONSISTENT SNAPSHOT")
    found = dict(session.rows("SHOW STATUS LIKE 'binlog_snapshot_%'"))
    if not keep:
        session.rows("ROLLBACK")
    names = {str(k).lower(): v for k, v in found.items()}
    file, pos = names.get("binlog_snapshot_file"), names.get("binlog_snapshot_position")
    if not file:
        raise _no_binlog(session)
    return Position(str(file), int(pos or 0))


def _no_binlog(session: Session) -> StreamtableError:
    return StreamtableError(
        Condition.DATABASE_NOT_READY,
        hint="start the server with log_bin",
        url=session.settings.server,
        reason="it writes no binlog",
    )


def _flat(gtids: object) -> str:
    return "".join(str(gtids or "").split())
