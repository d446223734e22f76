"""Check that a server meets the requirements for reading its binlog; each error names the fix."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from streamtable.connectors.mysql_cdc.names import VERSIONED, StartupMode
from streamtable.connectors.mysql_cdc.reader.binlog.stream import FRAME, REPLICA, stream
from streamtable.connectors.mysql_cdc.reader.connect import Session, session
from streamtable.connectors.mysql_cdc.reader.discover import Patterns, schemas
from streamtable.connectors.mysql_cdc.reader.keys import chunk_key
from streamtable.connectors.mysql_cdc.reader.model import TableSchema
from streamtable.connectors.mysql_cdc.reader.server import Server, master_status
from streamtable.connectors.mysql_cdc.reader.spec import SourceSpec
from streamtable.connectors.mysql_cdc.reader.values.snapshot_values import quoted
from streamtable.connectors.mysql_cdc.reader.values.types import binlog_obstacle, obstacle
from streamtable.core.errors import Condition, StreamtableError

#: Required variables, their allowed values, and how to set them. A server may lack a variable only
#: if the first allowed value is None.
_VARIABLES: tuple[tuple[str, tuple[str | None, ...], str], ...] = (
    ("log_bin", ("ON", "1"), "start the server with --log-bin"),
    ("binlog_format", ("ROW",), "SET GLOBAL binlog_format = 'ROW'"),
    ("binlog_row_image", ("FULL",), "SET GLOBAL binlog_row_image = 'FULL'"),
    (
        "binlog_row_metadata",
        ("FULL",),
        "SET GLOBAL binlog_row_metadata = 'FULL' (MySQL 8.0.1, MariaDB 10.5 or newer)",
    ),
    ("binlog_row_value_options", (None, ""), "SET GLOBAL binlog_row_value_options = ''"),
    (
        "binlog_transaction_compression",
        (None, "OFF", "0"),
        "SET GLOBAL binlog_transaction_compression = OFF",
    ),
    ("log_bin_compress", (None, "OFF", "0"), "SET GLOBAL log_bin_compress = OFF"),
)
#: Statements that list replicas: that of MariaDB and MySQL up to 8.3, that of MySQL since 8.0.22.
_REPLICA_LISTS = ("SHOW SLAVE HOSTS", "SHOW REPLICAS")
#: Minimum retention of binlogs. With a shorter retention, binlogs may be purged before a stopped
#: job continues.
_RETENTION_SECONDS = 24 * 3600
#: Matches a foreign key with an action on the referencing rows.
_CASCADES = re.compile(
    r"CONSTRAINT `([^`]+)` FOREIGN KEY[^\n]* ON (?:DELETE|UPDATE) (?:CASCADE|SET NULL)"
)
#: Tolerance between the offset of a time zone and the server's offset.
_SAME_SECONDS = 60


@dataclass(frozen=True)
class Checked:
    """The result of the checks of a readable server.

    Attributes:
        tables: the tables that match now.
        zone: the time zone in which TIMESTAMP is shown, an IANA name.
        notices: warnings about possible later failures, one line each.
    """

    tables: tuple[TableSchema, ...]
    zone: str
    notices: tuple[str, ...]


def check(spec: SourceSpec) -> Checked:
    """Check that a server's settings, grants and tables allow reading.

    Raises:
        StreamtableError: the first error: DATABASE_UNREACHABLE, DATABASE_LOGIN_FAILED,
            DATABASE_NOT_READY, DATABASE_REFUSED or TABLE_UNREADABLE.
    """
    with session(spec.settings) as opened:
        for fault in variable_faults(opened):
            raise fault
        check_server_ids(opened, spec)
        check_grants(opened, spec)
        wanted = spec.tables()
        tables = tuple(t for t in schemas(opened, Patterns(spec.patterns)) if wanted(t.id))
        for table in tables:
            check_table(opened, table, spec)
        notices = [*retention_notices(opened), *_cascades(opened, tables)]
        if not tables:
            notices.append(
                f"no table of {spec.settings.server} matches {', '.join(spec.patterns)} yet"
            )
        return Checked(tables, _zone(opened, spec), tuple(notices))


def variable_faults(opened: Session) -> Iterator[StreamtableError]:
    """Yield DATABASE_NOT_READY for each setting of the server that must change."""
    for name, allowed, fix in _VARIABLES:
        value = opened.variable(name)
        if (None if value is None else value.upper()) not in allowed:
            shown = "not known to the server" if value is None else f"'{value}'"
            yield StreamtableError(
                Condition.DATABASE_NOT_READY,
                hint=fix,
                url=opened.settings.server,
                reason=f"{name} is {shown}",
            )


def check_server_ids(opened: Session, spec: SourceSpec) -> None:
    """Raise DATABASE_NOT_READY if a `server-id` is the id of the server or of a replica."""
    ids = spec.settings.server_ids
    if ids is None:
        return
    own = opened.variable("server_id")
    taken = {int(own): "the server itself"} if own else {}
    replicas = _replicas(opened) or {}
    taken |= {n: f"replica {host}" for n, host in replicas.items() if host != REPLICA}
    for number, owner in taken.items():
        if ids[0] <= number <= ids[1]:
            raise StreamtableError(
                Condition.DATABASE_NOT_READY,
                hint="choose another 'server-id'",
                url=opened.settings.server,
                reason=f"server-id {number} is that of {owner}",
            )


def reader_notices(opened: Session, spec: SourceSpec) -> list[str]:
    """Return a line for each `server-id` that a reader of streamtable uses at the moment.

    The reader may be the same job, or one that has just ended, so this is no error. If the user
    may not list replicas, return one line that says so.
    """
    ids = spec.settings.server_ids
    if ids is None:
        return []
    replicas = _replicas(opened)
    if replicas is None:
        grant = f"GRANT REPLICATION MASTER ADMIN ON *.* TO '{spec.settings.username}' on MariaDB"
        return [
            f"only compared with the id of the server: the user may not list replicas ({grant})"
        ]
    return [
        f"server-id {number} is used by a running job: another job needs ids of its own"
        for number, host in sorted(replicas.items())
        if host == REPLICA and ids[0] <= number <= ids[1]
    ]


def _replicas(opened: Session) -> dict[int, str] | None:
    """Return the host of each connected replica by its id; None if the user may not list them."""
    for statement in _REPLICA_LISTS:
        with suppress(StreamtableError):
            return {int(row[0]): str(row[1]) for row in opened.rows(statement)}
    return None


def check_grants(opened: Session, spec: SourceSpec) -> None:
    """Raise DATABASE_REFUSED if a grant is missing.

    The check of REPLICATION CLIENT requests the position; the check of REPLICATION SLAVE opens a
    stream.
    """
    master_status(opened)
    server = Server(opened, spec.server_id(0))
    try:
        with stream(spec.settings, server.position(), server.server_id, FRAME) as events:
            events.next()
    except StreamtableError as error:
        if error.condition is not Condition.DATABASE_LOGIN_FAILED:
            raise
        # If the grant is missing, MariaDB returns the same error as for a wrong password.
        raise StreamtableError(
            Condition.DATABASE_REFUSED,
            hint=f"GRANT REPLICATION SLAVE ON *.* TO '{spec.settings.username}'",
            url=spec.settings.server,
            reason="the user may not read binlogs",
        ) from error


def check_table(opened: Session, table: TableSchema, spec: SourceSpec) -> None:
    """Raise TABLE_UNREADABLE for a table that cannot be read."""
    if table.versioned:
        raise StreamtableError(Condition.TABLE_UNREADABLE, table=table.id, reason=VERSIONED)
    for column in table.columns:
        reason = obstacle(column)
        if reason is None and spec.startup.mode is not StartupMode.SNAPSHOT:
            reason = binlog_obstacle(column)
        if reason and spec.reads(table.id, column.name, table.primary_key):
            raise StreamtableError(Condition.TABLE_UNREADABLE, table=table.id, reason=reason)
    if spec.startup.mode.has_snapshot:
        chunk_key(opened, table, spec)


def retention_notices(opened: Session) -> list[str]:
    """Return a warning if the server keeps binlogs for less than a day."""
    for name, unit in (("binlog_expire_logs_seconds", 1), ("expire_logs_days", 86_400)):
        value = opened.variable(name)
        if value is not None and float(value) > 0:
            seconds = float(value) * unit
            if seconds < _RETENTION_SECONDS:
                text = (
                    f"{opened.settings.server} keeps binlogs for {seconds / 3600:.1f} hours: a job"
                    f" that stands still for longer cannot go on; SET GLOBAL {name} ="
                    f" {7 * _RETENTION_SECONDS // unit} keeps them for a week"
                )
                return [text]
            return []
    return []


def _cascades(opened: Session, tables: tuple[TableSchema, ...]) -> list[str]:
    """Return warnings about cascading foreign keys, whose changes are missing from binlogs.

    The storage engine itself changes the referencing rows. The check reads the CREATE TABLE
    statement, which the user may see; the catalog of foreign keys requires further grants.
    """
    found: list[str] = []
    for table in tables:
        name = f"{quoted(table.id.database)}.{quoted(table.id.table)}"
        row = opened.row(f"SHOW CREATE TABLE {name}")
        found.extend(
            f"{table.id}: foreign key {key} changes rows by itself, and binlogs do not have such"
            " changes"
            for key in _CASCADES.findall(str(row[1]) if row else "")
        )
    return found


def server_zone(spec: SourceSpec) -> str:
    """Return the time zone in which the server shows TIMESTAMP.

    Raises:
        StreamtableError: DATABASE_NOT_READY if `server-time-zone` is not the server's zone, or is
            missing and cannot be determined.
    """
    with session(spec.settings) as opened:
        return _zone(opened, spec)


def _zone(opened: Session, spec: SourceSpec) -> str:
    """Return the zone of `server-time-zone`, or the server's own zone."""
    given = spec.settings.server_time_zone
    found = opened.row(
        "SELECT TIMESTAMPDIFF(SECOND, UTC_TIMESTAMP(),"
        " CONVERT_TZ(UTC_TIMESTAMP(), '+00:00', @@global.time_zone)), @@global.time_zone"
    )
    seconds, name = found or (0, "SYSTEM")
    if given is None:
        candidates = (
            [str(name), _local_zone(), "UTC"] if name != "SYSTEM" else [_local_zone(), "UTC"]
        )
    else:
        candidates = [given]
    for zone in candidates:
        offset = _offset(zone)
        if offset is not None and (seconds is None or abs(offset - seconds) <= _SAME_SECONDS):
            return zone
    shown = "unknown" if seconds is None else f"{int(seconds)} s ahead of UTC"
    raise StreamtableError(
        Condition.DATABASE_NOT_READY,
        hint="set 'server-time-zone' to the zone of the server, such as 'Europe/Berlin'",
        url=opened.settings.server,
        reason=f"its time zone is {shown}, and {given or 'that of this machine'} is not",
    )


def _local_zone() -> str:
    """Return the IANA name of this machine's zone; UTC if it cannot be determined."""
    named = os.environ.get("TZ", "").lstrip(":")
    if named:
        return named
    try:
        _, _, name = str(Path("/etc/localtime").resolve()).partition("zoneinfo/")
    except OSError:
        return "UTC"
    return name or "UTC"


def _offset(zone: str) -> float | None:
    try:
        offset = datetime.now(UTC).astimezone(ZoneInfo(zone)).utcoffset()
    except (ZoneInfoNotFoundError, ValueError):
        return None
    return None if offset is None else offset.total_seconds()
