"""Properties of Debezium and of the JDBC driver in a `mysql-cdc` table.

streamtable reads MySQL without either. A property that only tunes them has no effect and is
accepted with a notice; one that would change the rows is refused. Sources: Debezium 1.9's page
*MySQL connector*, and Connector/J's *Configuration Properties*.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from streamtable.connectors.mysql_cdc.names import StartupMode
from streamtable.connectors.mysql_cdc.server_options import JDBC_PREFIX
from streamtable.core.option_kinds import TEXT
from streamtable.core.options import Option

DEBEZIUM_PREFIX = "debezium."

#: Debezium's snapshot modes, as startup modes of a first run. `when_needed` differs from `initial`
#: only in a restart whose position is gone; that ends the job.
SNAPSHOT_MODES: Mapping[str, StartupMode] = {
    "initial": StartupMode.INITIAL,
    "when_needed": StartupMode.INITIAL,
    "initial_only": StartupMode.SNAPSHOT,
    "never": StartupMode.EARLIEST,
    "schema_only": StartupMode.LATEST,
}

SNAPSHOT_MODE = Option(
    "debezium.snapshot.mode",
    TEXT,
    only_with=("scan.incremental.snapshot.enabled", "false"),
    doc="Where a first run begins, in Debezium's words: `initial`, `when_needed`, `initial_only`,"
    " `never` or `schema_only`. As in Flink CDC, `scan.startup.mode` decides where snapshots are"
    " incremental.",
)

#: Properties of Debezium that would change the rows, with the reason of their refusal.
CHANGES_ROWS: Mapping[str, str] = {
    "converters": "a converter is a class of Debezium",
    "skipped.operations": "filter by the metadata column `row_kind` of"
    " 'scan.read-changelog-as-append-only.enabled' instead",
    "decimal.handling.mode": "the types of the columns say how values are read",
    "bigint.unsigned.handling.mode": "the types of the columns say how values are read",
    "time.precision.mode": "the types of the columns say how values are read",
    "snapshot.select.statement.overrides": "write the condition into the query",
    "database.ssl.mode": "set 'jdbc.properties.sslMode'",
}

_DEBEZIUM = (
    "max.queue.size",
    "max.queue.size.in.bytes",
    "max.batch.size",
    "poll.interval.ms",
    "connect.keep.alive",
    "connect.keep.alive.interval.ms",
    "min.row.count.to.stream.results",
    "snapshot.delay.ms",
    "snapshot.fetch.size",
    "snapshot.locking.mode",
    "snapshot.lock.timeout.ms",
    "database.history.store.only.captured.tables.ddl",
    "database.history.store.only.monitored.tables.ddl",
    "database.history.skip.unparseable.ddl",
    "include.schema.changes",
    "include.schema.comments",
    "include.query",
    "heartbeat.interval.ms",
    "offset.flush.interval.ms",
    "tombstones.on.delete",
    "binlog.buffer.size",
    # Of a converter class, which only `converters` would load.
    "datetime.format.date",
    "datetime.format.time",
    "datetime.format.datetime",
    "datetime.format.timestamp",
    "datetime.format.timestamp.zone",
)
_JDBC = (
    "autoReconnect",
    "cachePrepStmts",
    "cacheResultSetMetadata",
    "cacheServerConfiguration",
    "defaultFetchSize",
    "elideSetAutoCommits",
    "failOverReadOnly",
    "maintainTimeStats",
    "maxAllowedPacket",
    "maxReconnects",
    "initialTimeout",
    "netTimeoutForStreamingResults",
    "prepStmtCacheSize",
    "prepStmtCacheSqlLimit",
    "rewriteBatchedStatements",
    "tcpKeepAlive",
    "tcpNoDelay",
    "tcpRcvBuf",
    "tcpSndBuf",
    "useCompression",
    "useCursorFetch",
    "useLocalSessionState",
    "useLocalTransactionState",
    "useServerPrepStmts",
)


def _idle(prefix: str, name: str, owner: str) -> Option[str]:
    return Option(
        prefix + name,
        TEXT,
        no_effect=f"the server is read without {owner}",
        doc=f"A property of {owner}.",
    )


#: Properties that tune Debezium or the driver.
WITHOUT_EFFECT: tuple[Option[Any], ...] = (
    *(_idle(DEBEZIUM_PREFIX, name, "Debezium") for name in _DEBEZIUM),
    *(_idle(JDBC_PREFIX, name, "the JDBC driver") for name in _JDBC),
)


def snapshot_mode(text: str) -> StartupMode | None:
    """Return the startup mode of a snapshot mode of Debezium; None for an unknown one."""
    return SNAPSHOT_MODES.get(text.strip().lower())
