"""One run over a server's binlog: the library's stream without reconnecting."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pymysql
from pymysqlreplication import BinLogStreamReader
from pymysqlreplication.event import (
    GtidEvent,
    HeartbeatLogEvent,
    MariadbGtidEvent,
    NotImplementedEvent,
    QueryEvent,
    RotateEvent,
    XAPrepareEvent,
    XidEvent,
)

from streamtable.connectors.mysql_cdc.names import ANEW
from streamtable.connectors.mysql_cdc.reader.binlog.table_columns import teach_library
from streamtable.connectors.mysql_cdc.reader.connect import (
    LOGIN_CODES,
    MISSING_BINLOG,
    SAME_SERVER_ID,
    arguments,
    as_fault,
    connect,
    not_granted,
    require_uuid,
)
from streamtable.connectors.mysql_cdc.reader.model import Position
from streamtable.connectors.mysql_cdc.reader.settings import MySqlSettings
from streamtable.core.errors import Condition, StreamtableError

#: Events that precede rows, end transactions and change files.
FRAME = (
    GtidEvent,
    MariadbGtidEvent,
    NotImplementedEvent,
    QueryEvent,
    RotateEvent,
    XAPrepareEvent,
    XidEvent,
)
#: The name under which readers register at the server.
REPLICA = "streamtable"
#: Seconds between two heartbeats of a server that has no events to send to an open stream.
_HEARTBEAT_S = 5.0
#: The longest wait for an event that the server must have, in seconds.
_SILENCE_S = 30.0
#: Events with compressed rows, which the library does not read.
_COMPRESSED = {
    40: "a compressed transaction; SET GLOBAL binlog_transaction_compression = OFF",
    165: "a compressed statement; SET GLOBAL log_bin_compress = OFF",
    **dict.fromkeys(range(166, 172), "a compressed row event; SET GLOBAL log_bin_compress = OFF"),
}


teach_library()


class ConnectionLost(Exception):  # noqa: N818 - a cause, which the caller reports
    """The stream's connection broke."""


class Stream:
    """Events from a position on.

    Args:
        settings: the server.
        start: the start position, or a GTID set without a file.
        server_id: the id of this reader; another reader with the same id would end this one.
        events: classes of events to return, in addition to those that the library needs itself.
        server: the UUID that the server must have; empty for any.
        follow: whether the stream stays open at the end of the binlog. Its reader must not ask for
            events after an end that the server has reported.
    """

    def __init__(
        self,
        settings: MySqlSettings,
        start: Position,
        server_id: int,
        events: Sequence[type],
        *,
        server: str = "",
        follow: bool = False,
    ) -> None:
        self.settings = settings
        self._server = server
        self._connected = False
        self._connections: list[pymysql.Connection] = []
        self._follow = follow
        by_gtid = {"auto_position": start.gtid, "is_mariadb": ":" not in start.gtid}
        by_file = {"log_file": start.file, "log_pos": start.pos, "resume_stream": True}
        self._stream = BinLogStreamReader(
            connection_settings=dict(arguments(settings)),
            server_id=server_id,
            blocking=follow,
            slave_heartbeat=_HEARTBEAT_S if follow else None,
            only_events=[*events, HeartbeatLogEvent] if follow else list(events),
            filter_non_implemented_events=False,
            freeze_schema=True,
            enable_logging=False,
            report_slave=REPLICA,
            pymysql_wrapper=self._connect,
            **(by_file if start.file else by_gtid),
        )

    def _connect(self, **wanted: Any) -> pymysql.Connection:
        """Refuse a second stream, which the library opens after a broken one."""
        database = wanted.pop("db", None)
        if database is None:
            if self._connected:
                raise ConnectionLost
            self._connected = True
        opened = connect(self.settings, **wanted, database=database)
        self._connections.append(opened)
        if database is None:
            require_uuid(opened, self.settings, self._server)
        return opened

    @property
    def file(self) -> str:
        """The binlog of the last event."""
        return str(self._stream.log_file)

    @property
    def pos(self) -> int:
        """The end of the last event."""
        return int(self._stream.log_pos)

    def next(self) -> Any:
        """Return the next event; None at the end of the binlog.

        A stream that follows the binlog waits instead of returning None.

        Raises:
            StreamtableError: DATABASE_UNREACHABLE, DATABASE_REFUSED or DATA_LOST.
        """
        until = time.monotonic() + _SILENCE_S
        while isinstance(event := self._fetch(), HeartbeatLogEvent):
            if time.monotonic() > until:
                raise self._broken(what="no event followed")
        if isinstance(event, NotImplementedEvent) and event.event_type in _COMPRESSED:
            raise StreamtableError(
                Condition.DATABASE_NOT_READY,
                url=self.settings.server,
                reason=f"{self.file}:{self.pos} is {_COMPRESSED[event.event_type]}",
            )
        return event

    def _fetch(self) -> Any:
        try:
            event = self._stream.fetchone()
        except ConnectionLost:
            raise self._broken(what="the connection broke") from None
        except pymysql.err.Error as error:
            raise self._told(error) from error
        if event is None and self._follow:
            raise self._broken(what="the server ended the stream")
        return event

    def _broken(self, *, what: str) -> StreamtableError:
        return StreamtableError(
            Condition.DATABASE_UNREACHABLE,
            hint="if this repeats, another reader may use the same 'server-id'",
            url=self.settings.server,
            reason=f"{what} at {self.file}:{self.pos}",
        )

    def forget_tables(self) -> None:
        """Forget tables: in the next file, table numbers may denote other tables."""
        self._stream.table_map = {}

    def close(self) -> None:
        """Close both connections. The library forgets one that the server refuses as a stream."""
        while self._connections:
            connection = self._connections.pop()
            if connection.open:
                connection.close()

    def _told(self, error: pymysql.err.Error) -> StreamtableError:
        reason = str(error.args[-1]) if error.args else type(error).__name__
        if error.args and error.args[0] == MISSING_BINLOG and "server_id" not in reason:
            return purged(f"{self.file}:{self.pos}", self.settings, reason)
        if error.args and error.args[0] in (MISSING_BINLOG, SAME_SERVER_ID):
            return StreamtableError(
                Condition.DATABASE_REFUSED,
                hint="give each reader a 'server-id' of its own",
                url=self.settings.server,
                reason=reason,
            )
        if error.args and error.args[0] in LOGIN_CODES:  # after a successful login
            return not_granted(reason, self.settings)
        return as_fault(error, self.settings)


def purged(place: str, settings: MySqlSettings, reason: str) -> StreamtableError:
    """Return DATA_LOST for a position that the server no longer has."""
    return StreamtableError(
        Condition.DATA_LOST,
        hint=(
            "keep binlogs longer (binlog_expire_logs_seconds); with 'scan.startup.mode' ="
            f" 'initial', {ANEW}"
        ),
        table=f"the reader of MySQL at {settings.server}",
        reason=f"the server has no binlog {place} any more ({reason})",
    )


@contextmanager
def stream(
    settings: MySqlSettings,
    start: Position,
    server_id: int,
    events: Sequence[type],
    server: str = "",
) -> Iterator[Stream]:
    """Open a stream and close it at the end."""
    opened = Stream(settings, start, server_id, events, server=server)
    try:
        yield opened
    finally:
        opened.close()


class Transactions:
    """Finds ends of transactions in the events of a stream."""

    def __init__(self) -> None:
        self._open = False

    def ends(self, event: Any) -> bool:
        """Return whether the position after an event is between two transactions."""
        if isinstance(event, MariadbGtidEvent):
            self._open = not event.flags & 1  # FL_STANDALONE: one statement without COMMIT
            return False
        if isinstance(event, XidEvent | XAPrepareEvent):
            self._open = False
            return True
        if isinstance(event, QueryEvent):
            words = event.query.strip().upper()
            if words in ("BEGIN", "START TRANSACTION") or words.startswith("XA START"):
                self._open = True
                return False
            if self._open and words not in ("COMMIT", "ROLLBACK"):
                return False
            self._open = False
            return True
        return False
