"""Options of the server and of its reading, which `mysql-cdc` tables and job files share.

Names, meanings and defaults are those of Flink CDC's *MySQL Connector* pages.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any

from streamtable.connectors.mysql_cdc.names import JDBC_PROPERTIES, StartupMode, server_ids
from streamtable.core.errors import closest
from streamtable.core.option_kinds import (
    NOT_EMPTY,
    TEXT,
    Kind,
    choice,
    duration,
    integer,
    long_integer,
)
from streamtable.core.options import Option, Settings

SERVER_IDS: Kind[tuple[int, int]] = Kind(
    "String", "an id such as '5400' or a range such as '5400-5408'", server_ids
)

#: Prefix of properties of the JDBC driver; `JDBC_PROPERTIES` lists those that have an effect.
JDBC_PREFIX = "jdbc.properties."

HOSTNAME = Option("hostname", NOT_EMPTY, required=True, doc="Name or address of the MySQL server.")
PORT = Option("port", integer(minimum=1), default=3306, doc="Port of the server.")
USERNAME = Option(
    "username",
    NOT_EMPTY,
    required=True,
    doc="A user with SELECT, SHOW DATABASES, REPLICATION SLAVE and REPLICATION CLIENT.",
)
PASSWORD = Option("password", TEXT, required=True, doc="The user's password.", secret=True)
SERVER_ID = Option(
    "server-id",
    SERVER_IDS,
    doc="The id, or the range of ids such as `8601-8604`, under which binlogs are read. No other"
    " replica of the server may use one. The number of ids limits the number of parallel tasks."
    " Default: random ids.",
)
TIME_ZONE = Option(
    "server-time-zone",
    NOT_EMPTY,
    doc="The server's time zone, such as `Europe/Berlin`. Another zone is refused at startup."
    " Default: the zone of the server. A job file writes a TIMESTAMP in UTC.",
)
CHUNK_SIZE = Option(
    "scan.incremental.snapshot.chunk.size",
    integer(minimum=1),
    default=8096,
    doc="Rows of a snapshot chunk.",
)
FETCH_SIZE = Option(
    "scan.snapshot.fetch.size",
    integer(minimum=1),
    default=1024,
    doc="Rows per fetch of a snapshot.",
)
STARTUP_MODE = Option(
    "scan.startup.mode",
    choice(StartupMode),
    default=StartupMode.INITIAL,
    doc="Where a first run begins: `initial` reads a snapshot, then the binlog; `snapshot` reads"
    " the snapshot only; the others read the binlog only.",
)
STARTUP_FILE = Option(
    "scan.startup.specific-offset.file", NOT_EMPTY, doc="Binlog of the mode `specific-offset`."
)
STARTUP_POS = Option(
    "scan.startup.specific-offset.pos", long_integer(minimum=4), doc="Position in that binlog."
)
STARTUP_GTID = Option(
    "scan.startup.specific-offset.gtid-set",
    NOT_EMPTY,
    doc="GTID set of the mode `specific-offset`, instead of file and position.",
)
STARTUP_TIMESTAMP = Option(
    "scan.startup.timestamp-millis",
    long_integer(minimum=0),
    doc="Epoch milliseconds of the mode `timestamp`. Binlogs have a resolution of seconds.",
)
CONNECT_TIMEOUT = Option(
    "connect.timeout",
    duration(timedelta(milliseconds=250)),
    default=timedelta(seconds=30),
    doc="The longest wait for a connection.",
)
MAX_RETRIES = Option(
    "connect.max-retries",
    integer(minimum=0),
    default=3,
    doc="The number of retries after a failed connection.",
)

ACCESS = (HOSTNAME, PORT, USERNAME, PASSWORD)
IDENTITY = (SERVER_ID, TIME_ZONE)
STARTUP = (STARTUP_MODE, STARTUP_FILE, STARTUP_POS, STARTUP_GTID, STARTUP_TIMESTAMP)
SNAPSHOT = (CHUNK_SIZE, FETCH_SIZE)
CONNECTING = (CONNECT_TIMEOUT, MAX_RETRIES)

_MODE_OF: dict[Option[Any], StartupMode] = {
    STARTUP_FILE: StartupMode.SPECIFIC,
    STARTUP_POS: StartupMode.SPECIFIC,
    STARTUP_GTID: StartupMode.SPECIFIC,
    STARTUP_TIMESTAMP: StartupMode.TIMESTAMP,
}


def misplaced_startup(settings: Settings) -> Iterator[tuple[Option[Any], StartupMode]]:
    """Yield the options that are set for another startup mode, with the mode that uses them."""
    for option, mode in _MODE_OF.items():
        if settings.has(option) and settings[STARTUP_MODE] is not mode:
            yield option, mode


def missing_startup(settings: Settings) -> Option[Any] | None:
    """Return the option that the startup mode lacks, if any."""
    mode = settings[STARTUP_MODE]
    if mode is StartupMode.TIMESTAMP and not settings.has(STARTUP_TIMESTAMP):
        return STARTUP_TIMESTAMP
    if mode is StartupMode.SPECIFIC and not settings.has(STARTUP_GTID):
        return next((o for o in (STARTUP_FILE, STARTUP_POS) if not settings.has(o)), None)
    return None


def jdbc_faults(given: Mapping[str, str]) -> Iterator[tuple[str, str, str | None]]:
    """Yield the JDBC properties that have no effect here: name, reason, the nearest known name."""
    for name, text in given.items():
        allowed = JDBC_PROPERTIES.get(name, ())
        if allowed is None and text.isdigit():
            continue
        if allowed is not None and text.lower() in allowed:
            continue
        reason = "there is no JDBC driver"
        if allowed is None or allowed:
            known = "milliseconds" if allowed is None else " or ".join(allowed)
            reason = f"it takes {known} here"
        yield name, reason, None if name in JDBC_PROPERTIES else closest(name, JDBC_PROPERTIES)
