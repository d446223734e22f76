"""Connections to the server, and the translation of its error codes."""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Sequence
from contextlib import contextmanager
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

import pymysql

from streamtable.core.errors import Condition, StreamtableError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from streamtable.connectors.mysql_cdc.reader.settings import MySqlSettings

#: Settings of a session. The server's own modes would change the queries (NO_BACKSLASH_ESCAPES,
#: ANSI_QUOTES) and the values of a snapshot (PAD_CHAR_TO_FULL_LENGTH).
_SESSION = "SET time_zone = '+00:00', sql_mode = ''"
#: Wait between two connection attempts, in seconds.
_RETRY_WAIT = 1.0
#: Options of TCP: seconds until the first probe and between probes, probes, milliseconds until data
#: that is not acknowledged ends the connection. A platform may lack some.
_PROBES = {"TCP_KEEPIDLE": 10, "TCP_KEEPINTVL": 5, "TCP_KEEPCNT": 4, "TCP_USER_TIMEOUT": 30_000}
#: Error codes: host not allowed, access denied, access to the database denied.
LOGIN_CODES = frozenset({1044, 1045, 1130, 1251, 1698})
#: Error codes of a command that the user's grants do not cover.
_GRANT_CODES = frozenset({1142, 1143, 1227, 1370})
#: Error codes of a lost connection, or a server that shuts down.
LOST_CODES = frozenset({1053, 1927, 2003, 2006, 2013, 2055})
#: Error codes: no such column, no such table, the table's definition changed during the read.
_CHANGED_CODES = frozenset({1054, 1146, 1412})
#: The error code if the server does not have the requested binlog position.
MISSING_BINLOG = 1236
#: MariaDB's error code if another reader with the same id has connected; MySQL gives 1236.
SAME_SERVER_ID = 4052


def arguments(settings: MySqlSettings) -> dict[str, Any]:
    """Return the keyword arguments of `pymysql.connect`, including the password."""
    jdbc = dict(settings.jdbc)
    timeout = settings.connect_timeout.total_seconds()
    if "connectTimeout" in jdbc:
        timeout = int(jdbc["connectTimeout"]) / 1000
    found: dict[str, Any] = {
        "host": settings.hostname,
        "port": settings.port,
        "user": settings.username,
        "password": settings.password,
        "connect_timeout": timeout or None,
        "charset": "utf8mb4",
        "autocommit": True,
        "init_command": _SESSION,
    }
    if int(jdbc.get("socketTimeout", "0")):
        found["read_timeout"] = int(jdbc["socketTimeout"]) / 1000
    mode = jdbc.get("sslMode", "").lower()
    if mode == "required" or (not mode and jdbc.get("useSSL", "").lower() == "true"):
        found["ssl"] = _unverified()
    elif mode == "disabled" or jdbc.get("useSSL", "").lower() == "false":
        found["ssl_disabled"] = True
    return found


@cache
def _unverified() -> ssl.SSLContext:
    """Encrypt without verification, as Connector/J's modes PREFERRED and REQUIRED do."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


class _Connection(pymysql.Connection):  # type: ignore[misc]  # PyMySQL has no types
    """Detects a dead network, and avoids loading the machine's certificates (0.1 s).

    A query may take long, so there is no timeout of reads. The kernel probes the peer instead: a
    peer that does not answer for half a minute ends the connection.
    """

    def connect(self, sock: socket.socket | None = None) -> None:
        super().connect(sock)
        for name, value in _PROBES.items():
            if hasattr(socket, name):
                self._sock.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)

    def _create_ssl_ctx(self, sslp: object) -> ssl.SSLContext:  # noqa: ARG002
        return _unverified()


def connect(settings: MySqlSettings, **more: Any) -> pymysql.Connection:
    """Open a connection in autocommit mode, with the time zone UTC and without SQL modes.

    Args:
        settings: the server; `connect_max_retries` is the number of further attempts.
        more: further arguments of `pymysql.connect`.

    Raises:
        StreamtableError: DATABASE_LOGIN_FAILED or DATABASE_UNREACHABLE.
    """
    wanted = {**arguments(settings), **more}
    for attempt in range(settings.connect_max_retries + 1):
        try:
            return _Connection(**wanted)
        except pymysql.err.Error as error:
            code = _code(error)
            if code not in LOST_CODES or attempt == settings.connect_max_retries:
                raise as_fault(error, settings) from None
        time.sleep(_RETRY_WAIT)
    raise AssertionError


def as_fault(error: Exception, settings: MySqlSettings) -> StreamtableError:
    """Translate an error of the server into a StreamtableError with a hint."""
    code, server = _code(error), settings.server
    reason = str(error.args[-1]) if error.args else type(error).__name__
    if code in LOGIN_CODES:
        return StreamtableError(
            Condition.DATABASE_LOGIN_FAILED,
            hint="check 'username' and 'password', and the host that the user may come from",
            url=server,
            reason=reason,
        )
    if code in LOST_CODES:
        return StreamtableError(
            Condition.DATABASE_UNREACHABLE,
            hint="check 'hostname' and 'port', and that the server is running",
            url=server,
            reason=reason,
        )
    if code in _GRANT_CODES:
        return not_granted(reason, settings)
    return StreamtableError(Condition.DATABASE_REFUSED, url=server, reason=reason)


def not_granted(reason: str, settings: MySqlSettings) -> StreamtableError:
    """Return DATABASE_REFUSED for a user without a required grant."""
    grants = "SELECT, SHOW DATABASES, REPLICATION SLAVE, REPLICATION CLIENT"
    hint = f"GRANT {grants} ON *.* TO '{settings.username}'"
    return StreamtableError(
        Condition.DATABASE_REFUSED, hint=hint, url=settings.server, reason=reason
    )


def require_uuid(connection: pymysql.Connection, settings: MySqlSettings, uuid: str) -> None:
    """Check that a connection is to the server for which a batch was planned.

    Args:
        connection: the connection.
        settings: the server, for the message.
        uuid: the UUID of the planner's server; empty if it has none (MariaDB).

    Raises:
        StreamtableError: DATABASE_UNREACHABLE if it is another server, after a failover.
    """
    if not uuid:
        return
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT @@server_uuid")
            (found,) = cursor.fetchone()
    except pymysql.err.Error as error:
        raise as_fault(error, settings) from error
    if found != uuid:
        raise StreamtableError(
            Condition.DATABASE_UNREACHABLE,
            hint="a restart plans the batch for the server that answers now",
            url=settings.server,
            reason=f"server {found} answers, and the batch was planned for {uuid}",
        )


def is_table_changed(error: BaseException | None) -> bool:
    """Return whether a query failed because DDL has changed or dropped its table."""
    return isinstance(error, pymysql.err.Error) and _code(error) in _CHANGED_CODES


def _code(error: Exception) -> int:
    return int(error.args[0]) if error.args and isinstance(error.args[0], int) else 0


class Session:
    """A connection for queries, opened by the first query; errors are `StreamtableError`."""

    def __init__(self, settings: MySqlSettings) -> None:
        self.settings = settings

    @cached_property
    def _connection(self) -> pymysql.Connection:
        return connect(self.settings)

    @property
    def is_mariadb(self) -> bool:
        """Whether the server is MariaDB."""
        return "mariadb" in self._connection.get_server_info().lower()

    @property
    def version(self) -> str:
        """The version text of the server."""
        return str(self._connection.get_server_info())

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a query."""
        try:
            with self._connection.cursor() as cursor:
                cursor.execute(sql, values or None)
                return list(cursor.fetchall())
        except pymysql.err.Error as error:
            raise as_fault(error, self.settings) from error

    def row(self, sql: str, values: Sequence[Any] = ()) -> tuple[Any, ...] | None:
        """Return the first row of a query, or None."""
        found = self.rows(sql, values)
        return found[0] if found else None

    def named(self, sql: str) -> dict[str, Any] | None:
        """Return the first row of a query by column names in lower case, or None."""
        try:
            with self._connection.cursor(pymysql.cursors.DictCursor) as cursor:
                cursor.execute(sql)
                found = cursor.fetchone()
        except pymysql.err.Error as error:
            raise as_fault(error, self.settings) from error
        return None if found is None else {str(k).lower(): v for k, v in found.items()}

    def variable(self, name: str) -> str | None:
        """Return the value of a global variable; None if the server does not have the variable."""
        found = self.row("SHOW GLOBAL VARIABLES LIKE %s", (name.replace("_", "\\_"),))
        return None if found is None else str(found[1])

    def require(self, uuid: str) -> None:
        """Raise DATABASE_UNREACHABLE if the server has another UUID; see `require_uuid`."""
        require_uuid(self._connection, self.settings, uuid)

    @contextmanager
    def raw(self) -> Iterator[pymysql.cursors.SSCursor]:
        """Open a cursor that streams rows as the bytes that the server sends."""
        connection = self._connection
        kept = connection.decoders, connection.use_unicode
        connection.decoders, connection.use_unicode = {}, False
        try:
            with connection.cursor(pymysql.cursors.SSCursor) as cursor:
                yield cursor
        finally:
            connection.decoders, connection.use_unicode = kept

    def close(self) -> None:
        """Close the connection; closing it again has no effect. The next query opens another."""
        opened = self.__dict__.pop("_connection", None)
        if opened is not None and opened.open:
            opened.close()


@contextmanager
def session(settings: MySqlSettings) -> Iterator[Session]:
    """Open a session and close it at the end."""
    opened = Session(settings)
    try:
        yield opened
    finally:
        opened.close()
