"""Keys of a job file, declared as data.

Names, meanings and defaults of `source`, `route`, `transform` and `pipeline` are those of Flink CDC
3.5 (*MySQL Connector*, *Route*, *Transform*, *Data Pipeline*). Those of `sink` are from Alibaba's
*Upsert Kafka* page. Keys of this project state it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

from streamtable.connectors.kafka.options import apsaramq
from streamtable.connectors.kafka.options.options import (
    ADD_TABLE_ID,
    BOOTSTRAP_SERVERS,
    DELIVERY,
    SINK_PARALLELISM,
    TOPIC_CONFIG,
    TOPIC_PARTITIONS,
    TOPIC_REPLICATION,
    TRANSACTION_PREFIX,
)
from streamtable.connectors.mysql_cdc import server_options as server
from streamtable.core.option_kinds import BOOLEAN, NOT_EMPTY, TEXT, Kind, choice, integer
from streamtable.core.options import Option


class SchemaBehavior(Enum):
    """Handling of column changes in a table."""

    EXCEPTION = "exception"
    EVOLVE = "evolve"
    TRY_EVOLVE = "try_evolve"
    LENIENT = "lenient"
    IGNORE = "ignore"


@dataclass(frozen=True)
class Section:
    """The keys of one section of the file.

    Attributes:
        name: the name of the section in messages.
        options: all keys.
        prefixes: prefixes of keys -> what the keys are.
        refused: unsupported keys of Flink CDC -> what to do instead; a key that ends with a dot is
            a prefix.
    """

    name: str
    options: tuple[Option[Any], ...]
    prefixes: Mapping[str, str] = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)


def _metadata_list(text: str) -> tuple[str, ...]:
    names = tuple(part.strip() for part in text.split(",") if part.strip())
    if not set(names) <= {"op_ts"}:
        raise ValueError(text)
    return names


TYPE = Option("type", NOT_EMPTY, required=True, doc="Kind of this end of the job.")
NAME = Option("name", TEXT, doc="Name that is shown for it at the start.")

TABLES = Option(
    "tables",
    NOT_EMPTY,
    required=True,
    doc="Tables to copy: regular expressions `database.table`, a list or split by `,`. A dot"
    " separates the two names; `\\.` is the dot of a regular expression.",
)
TABLES_EXCLUDE = Option("tables.exclude", NOT_EMPTY, doc="Tables to leave out, written alike.")
TINYINT1 = Option(
    "treat-tinyint1-as-boolean.enabled",
    BOOLEAN,
    default=True,
    doc="Whether TINYINT(1) is BOOLEAN.",
)
CHUNK_KEY = Option(
    "scan.incremental.snapshot.chunk.key-column",
    NOT_EMPTY,
    doc="Key columns that divide tables into chunks: `database.table:column`, split by `;`, with"
    " tables as regular expressions. Default: the first column of the key.",
)
METADATA_LIST = Option(
    "metadata.list",
    Kind("String", "'op_ts'", _metadata_list),
    default=(),
    doc="Metadata columns for transforms: `op_ts`, the time of a change in epoch milliseconds; 0 in"
    " a snapshot.",
)
NO_KEY = Option(
    "ignore-no-primary-key-table",
    BOOLEAN,
    default=False,
    doc="Whether tables without a primary key are left out; otherwise they are refused.",
)
COLUMN_INCLUDE = Option(
    "debezium.column.include.list",
    NOT_EMPTY,
    doc="Columns to copy: regular expressions `database.table.column`, split by `,`.",
)
COLUMN_EXCLUDE = Option(
    "debezium.column.exclude.list", NOT_EMPTY, doc="Columns to leave out, written alike."
)

_NO_FLINK_SPLITS = "the reader sizes its work itself: remove it"

SOURCE = Section(
    "source",
    (
        TYPE,
        NAME,
        *server.ACCESS,
        TABLES,
        TABLES_EXCLUDE,
        *server.IDENTITY,
        *server.STARTUP,
        *server.SNAPSHOT,
        CHUNK_KEY,
        *server.CONNECTING,
        TINYINT1,
        NO_KEY,
        COLUMN_INCLUDE,
        COLUMN_EXCLUDE,
        METADATA_LIST,
    ),
    prefixes={server.JDBC_PREFIX: "properties of the JDBC driver that have an effect here"},
    refused={
        "scan.startup.specific-offset.skip-events": "give the position of a transaction's begin",
        "scan.startup.specific-offset.skip-rows": "give the position of a transaction's begin",
        "scan.incremental.snapshot.backfill.skip": "the reader always reads what a chunk missed",
        "scan.incremental.snapshot.unbounded-chunk-first.enabled": _NO_FLINK_SPLITS,
        "scan.incremental.close-idle-reader.enabled": _NO_FLINK_SPLITS,
        "scan.newly-added-table.enabled": "new tables that match are always copied: remove it",
        "scan.binlog.newly-added-table.enabled": (
            "new tables that match are always copied: remove it, or use tables.exclude"
        ),
        "scan.parse.online.schema.changes.enabled": (
            "a table that gh-ost or pt-osc replaces is read again: remove it"
        ),
        "chunk-meta.group.size": _NO_FLINK_SPLITS,
        "chunk-key.even-distribution.factor.lower-bound": _NO_FLINK_SPLITS,
        "chunk-key.even-distribution.factor.upper-bound": _NO_FLINK_SPLITS,
        "heartbeat.interval": "the position moves while nothing changes: remove it",
        "connection.pool.size": "each task has one connection: remove it",
        "schema-change.enabled": "use pipeline: schema.change.behavior",
        "include-comments.enabled": "a topic keeps no comments: remove it",
        "use.legacy.json.format": "JSON values are written as the server gives them",
        "debezium.": "Debezium is not used: remove it, or use column.include.list",
    },
)


class DropBehavior(Enum):
    """Effect of TRUNCATE TABLE and DROP TABLE on the rows of the topic."""

    IGNORE = "ignore"
    TOMBSTONE = "tombstone"
    FAIL = "fail"


ON_TRUNCATE = Option(
    "sink.on-truncate",
    choice(DropBehavior),
    default=DropBehavior.TOMBSTONE,
    doc="What TRUNCATE TABLE does to the topic: `tombstone` deletes each key, `ignore` leaves the"
    " rows, `fail` ends the job. Ours.",
)
ON_DROP = Option(
    "sink.on-drop",
    choice(DropBehavior),
    default=DropBehavior.IGNORE,
    doc="What DROP TABLE does to the topic, with the same values. Ours.",
)

SINK = Section(
    "sink",
    (
        TYPE,
        NAME,
        BOOTSTRAP_SERVERS,
        DELIVERY,
        replace(ADD_TABLE_ID, not_yet=None),
        TRANSACTION_PREFIX,
        SINK_PARALLELISM,
        TOPIC_PARTITIONS,
        TOPIC_REPLICATION,
        ON_TRUNCATE,
        ON_DROP,
        *apsaramq.OPTIONS,
    ),
    prefixes={
        "properties.": "settings of the Kafka clients",
        TOPIC_CONFIG: "settings of topics that the job creates",
    },
    refused={
        "key.format": "the key is JSON",
        "value.format": "the value is JSON",
        "topic": "use route: sink-table",
        "sink.tableId-to-topic.mapping": "use route",
        "sink.custom-header": "only sink.add-tableId-to-header-enabled writes headers",
        "partition.strategy": "rows of one key must meet in one partition",
        "include.schema.changes": "use pipeline: schema.change.behavior",
        "exclude.schema.changes": "use pipeline: schema.change.behavior",
    },
)

SOURCE_TABLE = Option(
    "source-table", NOT_EMPTY, required=True, doc="Tables, written as in the source."
)
SINK_TABLE = Option("sink-table", NOT_EMPTY, required=True, doc="Topic of their rows.")
REPLACE_SYMBOL = Option(
    "replace-symbol",
    NOT_EMPTY,
    doc="Text in `sink-table` that stands for the name of the source table, such as `<>`.",
)
DESCRIPTION = Option("description", TEXT, doc="Words for readers of the file.")

ROUTE = Section("route", (SOURCE_TABLE, SINK_TABLE, REPLACE_SYMBOL, DESCRIPTION))

PROJECTION = Option(
    "projection", NOT_EMPTY, default="*", doc="Columns of the rows, as after SELECT."
)
FILTER = Option("filter", NOT_EMPTY, doc="Condition that rows must meet, as after WHERE.")
PRIMARY_KEYS = Option(
    "primary-keys", NOT_EMPTY, doc="Columns of the key, split by `,`; instead of the table's own."
)

TRANSFORM = Section(
    "transform",
    (SOURCE_TABLE, PROJECTION, FILTER, PRIMARY_KEYS, DESCRIPTION),
    refused={
        "partition-keys": "a topic has no partition keys: the record's key decides",
        "table-options": "give properties of topics as sink.topic.config.*",
        "converter-after-transform": "deletes are tombstones: remove it",
    },
)

PIPELINE_NAME = Option("name", NOT_EMPTY, doc="Name of the job, in Spark.")
PARALLELISM = Option(
    "parallelism",
    integer(minimum=1),
    doc="Tasks that read chunks of a batch. Default: the processors of the machine.",
)
SCHEMA_BEHAVIOR = Option(
    "schema.change.behavior",
    choice(SchemaBehavior),
    default=SchemaBehavior.LENIENT,
    doc="What happens when a table changes: `evolve`, `try_evolve`, `lenient`, `ignore` or"
    " `exception`.",
)

PIPELINE = Section(
    "pipeline",
    (PIPELINE_NAME, PARALLELISM, SCHEMA_BEHAVIOR),
    refused={
        "local-time-zone": "use source: server-time-zone",
        "user-defined-function": "transforms take the built-in functions",
        "execution.runtime-mode": "use run --bounded for a job that ends",
        "route-mode": "each table goes to every route that matches it",
        "schema.operator.uid": "there is no such operator: remove it",
        "operator.uid.prefix": "there are no such operators: remove it",
        "schema-operator.rpc-timeout": "there is no such operator: remove it",
    },
)

#: Sections in the order of a file.
SECTIONS = (SOURCE, SINK, ROUTE, TRANSFORM, PIPELINE)
