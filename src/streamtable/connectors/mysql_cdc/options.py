"""WITH options of a `mysql-cdc` table; source: *Connector Options* of Flink CDC's MySQL page."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from streamtable.connectors.mysql_cdc.driver_options import (
    CHANGES_ROWS,
    DEBEZIUM_PREFIX,
    SNAPSHOT_MODE,
    SNAPSHOT_MODES,
    WITHOUT_EFFECT,
    snapshot_mode,
)
from streamtable.connectors.mysql_cdc.names import BinaryMode, StartupMode
from streamtable.connectors.mysql_cdc.server_options import (
    ACCESS,
    CONNECTING,
    IDENTITY,
    JDBC_PREFIX,
    SNAPSHOT,
    STARTUP,
    STARTUP_MODE,
    jdbc_faults,
    misplaced_startup,
    missing_startup,
)
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.option_kinds import (
    BOOLEAN,
    DURATION,
    NOT_EMPTY,
    TEXT,
    choice,
    integer,
    long_integer,
)
from streamtable.core.options import Option, OptionSet, Settings

CONNECTOR = Option("connector", TEXT, required=True, doc="`mysql-cdc`.")
DATABASE = Option(
    "database-name", NOT_EMPTY, required=True, doc="The database, as a regular expression."
)
TABLE = Option(
    "table-name",
    NOT_EMPTY,
    required=True,
    doc="The table, as a regular expression; `database-name\\.table-name` matches whole names.",
)
INCREMENTAL = Option(
    "scan.incremental.snapshot.enabled",
    BOOLEAN,
    default=True,
    doc="Whether the snapshot is read in chunks, in parallel and without locks. It always is. With"
    " `false`, `debezium.snapshot.mode` says where a first run begins.",
)
CHUNK_KEY = Option(
    "scan.incremental.snapshot.chunk.key-column",
    NOT_EMPTY,
    doc="The primary-key column by which chunks are cut; the first one where it is not given.",
)
UNBOUNDED_FIRST = Option(
    "scan.incremental.snapshot.unbounded-chunk-first.enabled",
    BOOLEAN,
    default=False,
    doc="Whether the last chunk of a table is read first. Chunks are read in the order of keys.",
)
BACKFILL_SKIP = Option(
    "scan.incremental.snapshot.backfill.skip",
    BOOLEAN,
    default=False,
    doc="Whether chunks are given without the changes meanwhile. They never are.",
)
SKIP_EVENTS = Option(
    "scan.startup.specific-offset.skip-events",
    long_integer(minimum=0),
    default=0,
    doc="Events to leave out behind the position. A position lies between two transactions.",
)
SKIP_ROWS = Option(
    "scan.startup.specific-offset.skip-rows",
    long_integer(minimum=0),
    default=0,
    doc="Rows to leave out behind the position. A position lies between two transactions.",
)
NEW_TABLES = Option(
    "scan.newly-added-table.enabled",
    BOOLEAN,
    default=False,
    doc="Whether a restart may name further tables, whose rows are then read first.",
)
APPEND_ONLY = Option(
    "scan.read-changelog-as-append-only.enabled",
    BOOLEAN,
    default=False,
    doc="Whether every change is given as an insert; `row_kind` tells what it was.",
)
POOL_SIZE = Option(
    "connection.pool.size",
    integer(minimum=1),
    default=20,
    doc="Connections that are kept. Each task has one of its own, so there is no pool.",
)
HEARTBEAT = Option(
    "heartbeat.interval",
    DURATION,
    default=timedelta(seconds=30),
    doc="How often the position moves on while the tables are quiet. It does with every look at"
    " the server, many times a second, so any interval is kept.",
)
CLOSE_IDLE = Option(
    "scan.incremental.close-idle-reader.enabled",
    BOOLEAN,
    default=False,
    doc="Whether readers are closed after the snapshot. A reader is a task, which ends with its"
    " batch, whatever is said here.",
)
ONLINE_SCHEMA = Option(
    "scan.parse.online.schema.changes.enabled",
    BOOLEAN,
    default=False,
    doc="Whether the shadow tables of gh-ost and pt-osc are followed.",
)
LEGACY_JSON = Option(
    "use.legacy.json.format",
    BOOLEAN,
    default=True,
    doc="Whether blanks between the parts of a JSON value are left out. They are.",
)
BINARY_MODE = Option(
    "debezium.binary.handling.mode",
    choice(BinaryMode),
    default=BinaryMode.BYTES,
    doc="How bytes become the text of a STRING column: as they are, `base64`, `base64-url-safe` or"
    " `hex`.",
)

ALL: tuple[Option[Any], ...] = (
    CONNECTOR,
    *ACCESS,
    DATABASE,
    TABLE,
    *IDENTITY,
    *STARTUP,
    SKIP_EVENTS,
    SKIP_ROWS,
    INCREMENTAL,
    *SNAPSHOT,
    CHUNK_KEY,
    UNBOUNDED_FIRST,
    BACKFILL_SKIP,
    NEW_TABLES,
    APPEND_ONLY,
    *CONNECTING,
    POOL_SIZE,
    HEARTBEAT,
    CLOSE_IDLE,
    ONLINE_SCHEMA,
    LEGACY_JSON,
    BINARY_MODE,
    SNAPSHOT_MODE,
    *WITHOUT_EFFECT,
)

#: Options that support only their default value, with the reason.
_FIXED: dict[Option[Any], str] = {
    SKIP_EVENTS: "a position lies between two transactions",
    SKIP_ROWS: "a position lies between two transactions",
    UNBOUNDED_FIRST: "chunks are read in the order of their keys",
    BACKFILL_SKIP: "a chunk without the changes meanwhile would repeat or lose rows",
    POOL_SIZE: "each task has a connection of its own",
    ONLINE_SCHEMA: "shadow tables are not followed",
    LEGACY_JSON: "blanks between the parts of a JSON value are always left out",
}
#: Options of Flink CDC that do not apply here, with the reason.
_NOT_HERE = {
    "chunk-meta.group.size": "the plan of chunks is a bound for each table, and no list",
    "chunk-key.even-distribution.factor.upper-bound": "chunks are cut by the key's index",
    "chunk-key.even-distribution.factor.lower-bound": "chunks are cut by the key's index",
    "scan.incremental.snapshot.chunk.key-column.": "name one column of the primary key",
}


def _fixed(settings: Settings, table: str) -> None:
    for option, reason in _FIXED.items():
        if settings[option] != option.default:
            raise _not_settable(settings, table, option.key, reason)


def _debezium(settings: Settings, table: str) -> None:
    known = {option.key for option in ALL}
    for key in settings.given:
        if key.startswith(DEBEZIUM_PREFIX) and key not in known:
            name = key.removeprefix(DEBEZIUM_PREFIX)
            reason = CHANGES_ROWS.get(name, "the binlog is read without Debezium")
            raise _not_settable(settings, table, key, reason)


def _snapshot_mode(settings: Settings, table: str) -> None:
    """Refuse an unknown mode, and one that contradicts `scan.startup.mode`.

    In Flink CDC, Debezium's mode would win. Its documentation asks not to set both.
    """
    if settings[INCREMENTAL] or not settings.has(SNAPSHOT_MODE):
        return
    mode = snapshot_mode(settings[SNAPSHOT_MODE] or "")
    if mode is None:
        raise StreamtableError(
            Condition.INVALID_OPTION,
            at=settings.at(SNAPSHOT_MODE),
            option=SNAPSHOT_MODE.key,
            value=settings[SNAPSHOT_MODE],
            expected="one of " + ", ".join(SNAPSHOT_MODES),
        )
    if settings.has(STARTUP_MODE) and settings[STARTUP_MODE] is not mode:
        raise StreamtableError(
            Condition.OPTION_CONFLICT,
            at=settings.at(SNAPSHOT_MODE),
            reason=f"'{SNAPSHOT_MODE.key}' = '{settings[SNAPSHOT_MODE]}' of {table} means"
            f" '{STARTUP_MODE.key}' = '{mode.value}'",
            hint="set only one of them",
        )


def startup_mode(settings: Settings) -> StartupMode:
    """Return where a first run begins, as checked options say."""
    if not settings[INCREMENTAL] and settings.has(SNAPSHOT_MODE):
        return snapshot_mode(settings[SNAPSHOT_MODE] or "") or settings[STARTUP_MODE]
    return settings[STARTUP_MODE]


def _jdbc(settings: Settings, table: str) -> None:
    for name, reason, hint in jdbc_faults(settings.passthrough):
        raise _not_settable(settings, table, JDBC_PREFIX + name, reason, hint)


def _startup(settings: Settings, table: str) -> None:
    mode = settings[STARTUP_MODE]
    for option, of_mode in misplaced_startup(settings):
        raise StreamtableError(
            Condition.OPTION_CONFLICT,
            at=settings.at(option),
            reason=f"'{option.key}' of {table} belongs to '{STARTUP_MODE.key}' ="
            f" '{of_mode.value}', which is '{mode.value}'",
            hint=f"set '{STARTUP_MODE.key}' = '{of_mode.value}', or leave the option out",
        )
    missing = missing_startup(settings)
    if missing is not None:
        raise StreamtableError(
            Condition.MISSING_OPTION,
            at=settings.at(STARTUP_MODE),
            hint=f"add '{missing.key}' = '...' to its WITH clause",
            table=table,
            option=missing.key,
            owner=f"'{STARTUP_MODE.key}' = '{mode.value}'",
        )


def _not_settable(
    settings: Settings, table: str, key: str, reason: str, hint: str | None = None
) -> StreamtableError:
    return StreamtableError(
        Condition.OPTION_NOT_SETTABLE,
        at=settings.given[key].at,
        option=key,
        reason=reason,
        hint=hint or f"remove it from the WITH clause of {table}",
    )


OPTIONS = OptionSet(
    "connector 'mysql-cdc'",
    ALL,
    passthrough=JDBC_PREFIX,
    family=DEBEZIUM_PREFIX,
    rules=(_fixed, _debezium, _snapshot_mode, _jdbc, _startup),
)


def refuse_foreign(given: dict[str, Any], table: str) -> None:
    """Refuse options of Flink CDC that do not apply here, by name.

    Raises:
        StreamtableError: OPTION_NOT_SETTABLE.
    """
    for key, value in given.items():
        if key in _NOT_HERE:
            raise StreamtableError(
                Condition.OPTION_NOT_SETTABLE,
                at=value.at,
                option=key,
                reason=_NOT_HERE[key],
                hint=f"remove it from the WITH clause of {table}",
            )
