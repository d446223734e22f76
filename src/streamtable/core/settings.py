"""Settings of `SET` and `--set`, declared as data.

Names and meanings are Flink's if Flink has the setting. Keys that begin with `spark.` are passed to
Spark without parsing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import timedelta
from enum import Enum

from streamtable.core.options import (
    BOOLEAN,
    DURATION,
    NOT_EMPTY,
    TEXT,
    Kind,
    Option,
    OptionSet,
    choice,
    duration,
    integer,
)


class ExecutionMode(Enum):
    """Execution mode of a query on Spark."""

    MICRO_BATCH = "micro-batch"
    REAL_TIME = "real-time"
    AUTO = "auto"


class RuntimeMode(Enum):
    """Flink's `execution.runtime-mode`."""

    STREAMING = "streaming"
    BATCH = "batch"


class AggregationPhases(Enum):
    """Flink's `table.optimizer.agg-phase-strategy`.

    AUTO uses two phases wherever possible, except where a Top-N keeps one row per partition.
    """

    AUTO = "AUTO"
    TWO_PHASE = "TWO_PHASE"
    ONE_PHASE = "ONE_PHASE"


class ResultMode(Enum):
    """Flink's `sql-client.execution.result-mode`."""

    TABLE = "table"
    CHANGELOG = "changelog"
    TABLEAU = "tableau"


class UpsertMaterialize(Enum):
    """Flink's `table.exec.sink.upsert-materialize`."""

    NONE = "NONE"
    AUTO = "AUTO"
    FORCE = "FORCE"


class NotNullEnforcer(Enum):
    """Handling of a NULL that is written to a NOT NULL column."""

    ERROR = "ERROR"
    DROP = "DROP"


class LegacyCasts(Enum):
    """Flink's `table.exec.legacy-cast-behaviour`: casts as before Flink 1.15."""

    ENABLED = "ENABLED"
    DISABLED = "DISABLED"


class TypeLengthEnforcer(Enum):
    """Handling of strings and bytes whose length does not match their column."""

    IGNORE = "IGNORE"
    TRIM_PAD = "TRIM_PAD"
    ERROR = "ERROR"


JOB_NAME = Option("pipeline.name", TEXT, doc="Name of the job in Spark's UI and in messages.")
PARALLELISM = Option(
    "parallelism.default",
    integer(minimum=1),
    doc="Number of state partitions, fixed by the first run of a checkpoint. Default: the"
    " number of cores.",
    fallback_keys=("table.exec.resource.default-parallelism",),
)
TIME_ZONE = Option(
    "table.local-time-zone",
    TEXT,
    default="default",
    doc="Session time zone, e.g. `Europe/Berlin` or `GMT-08:00`; `default` is the machine's.",
)
RUNTIME_MODE = Option(
    "execution.runtime-mode",
    choice(RuntimeMode),
    default=RuntimeMode.STREAMING,
    doc="`batch` is the same as `--bounded`: the job processes the topics up to their ends at"
    " startup, and a SELECT shows the final rows.",
)
EXECUTION_MODE = Option(
    "execution.mode",
    choice(ExecutionMode),
    default=ExecutionMode.AUTO,
    doc="How queries run on Spark: `micro-batch`, `real-time` (row by row), or `auto`. `auto`"
    " catches up in micro-batches, then switches to real-time mode if a crash cannot leave"
    " transient rows.",
)
AUTO_LAG = Option(
    "execution.auto.lag",
    integer(minimum=0),
    default=10_000,
    doc="Lag in records at which `auto` switches to real-time mode; at ten times this lag it"
    " switches back.",
)
CHECKPOINT_DIRECTORY = Option(
    "execution.checkpointing.dir",
    TEXT,
    doc="Checkpoint directory; the same as `--checkpoint`.",
    fallback_keys=("state.checkpoints.dir", "state.backend.fs.checkpointdir"),
)
CHECKPOINT_INTERVAL = Option(
    "execution.checkpointing.interval",
    DURATION,
    doc="Time between checkpoints in real-time mode; in micro-batch mode every batch is a"
    " checkpoint.",
)
CHECKPOINT_LEASE = Option(
    "execution.checkpointing.lease",
    duration(timedelta(seconds=6)),
    default=timedelta(seconds=30),
    doc="Period of the lease on a checkpoint outside the local disk (`hdfs://`, `s3a://`, ...)."
    " After a crash, the next start waits this long. A job that is paused for longer ends if"
    " another job has taken its checkpoint.",
)
FIRST_CHECKPOINTS = Option(
    "execution.real-time.first-checkpoints",
    integer(minimum=0),
    default=5,
    doc="Number of initial checkpoints in real-time mode that are one second apart. Rows wait"
    " at a checkpoint, and the first checkpoints take longest, because the JVM has not"
    " compiled their code yet.",
)
PRACTICE_PLANS = Option(
    "execution.real-time.practice-plans",
    integer(minimum=0),
    default=30,
    doc="Planner warm-up: number of batches that real-time mode plans in the background after"
    " its start without running them, so that the JVM compiles the planner. It happens once"
    " per process.",
)
QUIET_BUFFER_TIMEOUT = Option(
    "execution.real-time.quiet-buffer-timeout",
    duration(timedelta(milliseconds=1)),
    default=timedelta(milliseconds=10),
    doc="Buffer timeout between stages in real-time mode, from a checkpoint without input until"
    " the next checkpoint; otherwise it is 2 ms. A longer timeout reduces the CPU usage of"
    " an idle job. Local mode only.",
)
RESTORE_SINKS = Option(
    "execution.real-time.restore-sinks",
    BOOLEAN,
    default=True,
    doc="Whether a start rolls the topic of an upsert sink back to its checkpoint if real-time"
    " mode has written later rows. Topics that a job creates for such a sink get a"
    " `min.compaction.lag.ms` of one hour, or of ten checkpoint intervals.",
)
ADJUST_SINKS = Option(
    "execution.real-time.adjust-sinks",
    BOOLEAN,
    default=False,
    doc="Whether a start of real-time mode may change the configuration of an existing topic that"
    " `execution.real-time.restore-sinks` needs. A compacted topic with a shorter"
    " `min.compaction.lag.ms`, such as the brokers' default 0, gets one of one hour, or of ten"
    " checkpoint intervals. The user needs ALTER_CONFIGS of the topic. Without this setting, such a"
    " query stays in micro-batches in `auto` mode.",
)
MAX_LEAD = Option(
    "execution.max-lead",
    integer(minimum=1),
    default=1_000_000,
    doc="Source alignment in micro-batches: maximum number of records per partition by which"
    " one INSERT may be ahead of another INSERT that reads the same table. Real-time mode"
    " has no limit.",
)
DRAIN = Option(
    "execution.end-of-input.drain",
    BOOLEAN,
    default=True,
    doc="Whether the end of a bounded run emits rows that wait for a later watermark, as in"
    " Flink, and ends the checkpoint; `false` keeps these rows for a later run over later"
    " records.",
)
MAX_BATCH_RECORDS = Option(
    "execution.micro-batch.max-records",
    integer(minimum=1),
    default=1_000_000,
    doc="Maximum number of records that a micro-batch reads from one table.",
)
NOT_NULL_ENFORCER = Option(
    "table.exec.sink.not-null-enforcer",
    choice(NotNullEnforcer),
    default=NotNullEnforcer.ERROR,
    doc="Whether a NULL in a NOT NULL column fails the job, or drops and counts the row.",
)
TYPE_LENGTH_ENFORCER = Option(
    "table.exec.sink.type-length-enforcer",
    choice(TypeLengthEnforcer),
    default=TypeLengthEnforcer.IGNORE,
    doc="Whether a value that does not fit the length of its CHAR, VARCHAR, BINARY or VARBINARY"
    " column is written unchanged, is trimmed or padded, or fails the job.",
)
LEGACY_CASTS = Option(
    "table.exec.legacy-cast-behaviour",
    choice(LegacyCasts),
    default=LegacyCasts.DISABLED,
    doc="Whether casts behave as in Flink before 1.15, where a failed cast returns NULL.",
    not_yet="use TRY_CAST if a failed cast must return NULL",
    not_yet_value=LegacyCasts.ENABLED,
)
UPSERT_MATERIALIZE = Option(
    "table.exec.sink.upsert-materialize",
    choice(UpsertMaterialize),
    default=UpsertMaterialize.AUTO,
    doc="Whether state keeps the rows of each sink key to find the last one: never, if the"
    " sink's key is not the query's key, or for every query with updates.",
)
STATE_TTL = Option(
    "table.exec.state.ttl",
    DURATION,
    default=timedelta(0),
    doc="Time to live of state after its last change; 0 disables expiration. Expired state is"
    " forgotten, and later rows count as new.",
)
IDLE_TIMEOUT = Option(
    "table.exec.source.idle-timeout",
    DURATION,
    default=timedelta(0),
    doc="Time after which a partition without records is idle and no longer holds the watermark"
    " back; 0 disables idleness.",
)
CDC_DUPLICATES = Option(
    "table.exec.source.cdc-events-duplicate",
    BOOLEAN,
    default=False,
    doc="Whether change events may be duplicated; their tables then need a primary key.",
)

RESULT_MODE = Option(
    "sql-client.execution.result-mode",
    choice(ResultMode),
    default=ResultMode.TABLEAU,
    doc="How a SELECT is shown: each change (`tableau`, `changelog`), or the final rows"
    " (`table`, bounded runs only).",
)
MAX_COLUMN_WIDTH = Option(
    "table.display.max-column-width",
    integer(minimum=1),
    default=30,
    doc="Maximum width of a SELECT column whose type has no fixed width.",
)
CLIENT_MAX_COLUMN_WIDTH = Option(
    "sql-client.display.max-column-width",
    integer(minimum=1),
    doc="Deprecated name of `table.display.max-column-width`, which takes precedence.",
)
DYNAMIC_TABLE_OPTIONS = Option(
    "table.dynamic-table-options.enabled",
    BOOLEAN,
    default=True,
    doc="Whether a hint `/*+ OPTIONS('key' = 'value') */` may change the options of a table.",
)

PYTHON_FILES = Option(
    "python.files",
    TEXT,
    default="",
    doc="Where CREATE FUNCTION finds Python modules: folders, `.py` and `.zip` files, separated"
    " by commas.",
)

PIPELINE_JARS = Option(
    "pipeline.jars",
    TEXT,
    default="",
    doc="Jars with the classes of functions, separated by semicolons, like ADD JAR.",
)

DISTINCT_BITMAPS = Option(
    "table.exec.distinct-bitmaps.enabled",
    BOOLEAN,
    default=True,
    doc="Whether DISTINCT integers of an append-only input are stored as bitmaps.",
)

STATE_ROWS = Option(
    "state.backend.rocksdb.metrics.estimate-num-keys",
    BOOLEAN,
    default=False,
    doc="Whether state rows are counted exactly for the metrics; each state write then costs a"
    " read.",
)

STATE_ORDER = Option(
    "execution.micro-batch.state-order.enabled",
    BOOLEAN,
    default=True,
    doc="Whether the rows of a batch are sorted in RocksDB's key order before they reach state,"
    " so that adjacent keys are read together.",
)

AGGREGATION_PHASES = Option(
    "table.optimizer.agg-phase-strategy",
    choice(AggregationPhases),
    default=AggregationPhases.AUTO,
    doc="Whether each task aggregates the rows of a group, and prunes the rows of a Top-N,"
    " before the shuffle.",
)

REUSE_SOURCE = Option(
    "table.optimizer.reuse-source-enabled",
    BOOLEAN,
    default=True,
    doc="Whether the INSERTs of a statement set that read one table alike, and write with equal"
    " guarantees, read it once, as one query. The first run of a checkpoint decides.",
)
REUSE_SUB_PLANS = Option(
    "table.optimizer.reuse-sub-plan-enabled",
    BOOLEAN,
    default=True,
    doc="As in Flink, `false` also turns `table.optimizer.reuse-source-enabled` off.",
)

#: Labels that metrics of a job have anyway.
OWN_LABELS = frozenset({"job_name", "mode", "operator", "partition", "query", "table", "topic"})


def _labels(text: str) -> Mapping[str, str]:
    # dict() raises ValueError for a part without ':'.
    pairs = dict(part.split(":", 1) for part in text.split(",") if part.strip())
    labels = {name.strip(): value.strip() for name, value in pairs.items()}
    if any(not re.fullmatch(r"[a-zA-Z]\w*", n, re.ASCII) or n in OWN_LABELS for n in labels):
        raise ValueError(text)
    return labels


METRIC_LABELS = Option(
    "metrics.reporter.prom.scope.variables.additional",
    Kind(
        "Map<String, String>",
        "pairs such as 'team:data,env:test', with names of letters, digits and '_' other than "
        + ", ".join(sorted(OWN_LABELS)),
        _labels,
    ),
    doc="Labels of all Prometheus metrics of the job: `team:data,env:test`.",
)

LINEAGE_URL = Option(
    "openlineage.transport.url",
    NOT_EMPTY,
    doc="Address of a server that gets lineage events of the job, e.g. `http://marquez:5000`.",
)
LINEAGE_API_KEY = Option(
    "openlineage.transport.auth.apiKey",
    NOT_EMPTY,
    doc="API key for the server of lineage events.",
    secret=True,
)
LINEAGE_NAMESPACE = Option(
    "openlineage.namespace",
    NOT_EMPTY,
    default="streamtable",
    doc="Namespace of the job in lineage events.",
)

SETTINGS = OptionSet(
    "the session",
    (
        JOB_NAME,
        PARALLELISM,
        TIME_ZONE,
        RUNTIME_MODE,
        EXECUTION_MODE,
        AUTO_LAG,
        CHECKPOINT_DIRECTORY,
        CHECKPOINT_INTERVAL,
        CHECKPOINT_LEASE,
        FIRST_CHECKPOINTS,
        PRACTICE_PLANS,
        QUIET_BUFFER_TIMEOUT,
        RESTORE_SINKS,
        ADJUST_SINKS,
        DRAIN,
        MAX_BATCH_RECORDS,
        MAX_LEAD,
        NOT_NULL_ENFORCER,
        TYPE_LENGTH_ENFORCER,
        LEGACY_CASTS,
        UPSERT_MATERIALIZE,
        STATE_TTL,
        IDLE_TIMEOUT,
        CDC_DUPLICATES,
        DYNAMIC_TABLE_OPTIONS,
        RESULT_MODE,
        MAX_COLUMN_WIDTH,
        CLIENT_MAX_COLUMN_WIDTH,
        DISTINCT_BITMAPS,
        STATE_ORDER,
        PYTHON_FILES,
        PIPELINE_JARS,
        STATE_ROWS,
        AGGREGATION_PHASES,
        REUSE_SOURCE,
        REUSE_SUB_PLANS,
        METRIC_LABELS,
        LINEAGE_URL,
        LINEAGE_API_KEY,
        LINEAGE_NAMESPACE,
    ),
    passthrough="spark.",
)
