"""What `SET` and `--set` know: the session's settings, declared as data.

Names and meanings are Flink's where Flink has them. Keys that begin with `spark.` go to Spark
unread.
"""

from __future__ import annotations

from datetime import timedelta
from enum import Enum

from streamtable.core.options import (
    BOOLEAN,
    DURATION,
    TEXT,
    Option,
    OptionSet,
    choice,
    duration,
    integer,
)


class ExecutionMode(Enum):
    """How a query runs on Spark."""

    MICRO_BATCH = "micro-batch"
    REAL_TIME = "real-time"
    AUTO = "auto"


class RuntimeMode(Enum):
    """Flink's `execution.runtime-mode`."""

    STREAMING = "streaming"
    BATCH = "batch"


class AggregationPhases(Enum):
    """Flink's `table.optimizer.agg-phase-strategy`.

    AUTO is two phases wherever they can be, but where a Top-N keeps one row of each partition.
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
    """What happens to a NULL on its way into a NOT NULL column."""

    ERROR = "ERROR"
    DROP = "DROP"


class LegacyCasts(Enum):
    """Flink's `table.exec.legacy-cast-behaviour`: the casts of before 1.15."""

    ENABLED = "ENABLED"
    DISABLED = "DISABLED"


class TypeLengthEnforcer(Enum):
    """What happens to a text or bytes that do not have the length of their column."""

    IGNORE = "IGNORE"
    TRIM_PAD = "TRIM_PAD"
    ERROR = "ERROR"


JOB_NAME = Option("pipeline.name", TEXT, doc="Name of the job in Spark's UI and in messages.")
PARALLELISM = Option(
    "parallelism.default",
    integer(minimum=1),
    doc="Partitions of the state; fixed by the first run of a checkpoint. Default: the cores.",
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
    doc="`streaming`; `batch` is not there yet.",
    not_yet="use `streamtable run --bounded` to process what the topics hold and stop",
)
EXECUTION_MODE = Option(
    "execution.mode",
    choice(ExecutionMode),
    default=ExecutionMode.AUTO,
    doc="How queries run on Spark: `micro-batch`, row by row in `real-time`, or `auto`, which"
    " catches up in micro-batches and goes on in real-time where a crash cannot leave rows behind.",
)
AUTO_LAG = Option(
    "execution.auto.lag",
    integer(minimum=0),
    default=10_000,
    doc="Records behind the end of the topics at which `auto` goes on in real-time; at ten times"
    " as many it goes back.",
)
CHECKPOINT_DIRECTORY = Option(
    "execution.checkpointing.dir",
    TEXT,
    doc="Where checkpoints live; the same as `--checkpoint`.",
)
CHECKPOINT_INTERVAL = Option(
    "execution.checkpointing.interval",
    DURATION,
    doc="Time between checkpoints in real-time mode; in micro-batch mode every batch is one.",
)
FIRST_CHECKPOINTS = Option(
    "execution.real-time.first-checkpoints",
    integer(minimum=0),
    default=5,
    doc="How many checkpoints real-time mode begins with that are a second apart. Rows wait at a"
    " checkpoint, and the first ones, whose code is not compiled yet, take longest.",
)
PRACTICE_PLANS = Option(
    "execution.real-time.practice-plans",
    integer(minimum=0),
    default=30,
    doc="How many batches real-time mode plans in the background after its start and does not run,"
    " so that the code is compiled when rows wait for a plan; once in a process.",
)
QUIET_BUFFER_TIMEOUT = Option(
    "execution.real-time.quiet-buffer-timeout",
    duration(timedelta(milliseconds=1)),
    default=timedelta(milliseconds=10),
    doc="How long a row of real-time mode may wait for others on its way to the next stage, after a"
    " checkpoint up to which no record came and until the next one; otherwise 2 ms. A thread of"
    " each task wakes as often, which is most of a quiet job's CPU. In local mode only.",
)
RESTORE_SINKS = Option(
    "execution.real-time.restore-sinks",
    BOOLEAN,
    default=True,
    doc="Whether a start takes the topic of an upsert sink back to the checkpoint that it goes on"
    " from, where real-time mode had written on. Topics that a job creates for such a sink get a"
    " `min.compaction.lag.ms` of an hour, or of ten checkpoint intervals.",
)
MAX_LEAD = Option(
    "execution.max-lead",
    integer(minimum=1),
    default=1_000_000,
    doc="How many records of a partition one INSERT may be ahead of another that reads the same"
    " table, in micro-batches; real-time mode waits for nobody.",
)
DRAIN = Option(
    "execution.end-of-input.drain",
    BOOLEAN,
    default=True,
    doc="Whether the end of a bounded run gives what waits for a later watermark, as Flink does,"
    " and ends the checkpoint with it; `false` keeps it for a later run over later records.",
)
MAX_BATCH_RECORDS = Option(
    "execution.micro-batch.max-records",
    integer(minimum=1),
    default=1_000_000,
    doc="Most records that one micro-batch reads from one table.",
)
NOT_NULL_ENFORCER = Option(
    "table.exec.sink.not-null-enforcer",
    choice(NotNullEnforcer),
    default=NotNullEnforcer.ERROR,
    doc="Whether a NULL for a NOT NULL column stops the job or drops the row, counted.",
)
TYPE_LENGTH_ENFORCER = Option(
    "table.exec.sink.type-length-enforcer",
    choice(TypeLengthEnforcer),
    default=TypeLengthEnforcer.IGNORE,
    doc="Whether a value that is not as long as its CHAR, VARCHAR, BINARY or VARBINARY column says"
    " is written as it is, is cut or padded, or stops the job.",
)
LEGACY_CASTS = Option(
    "table.exec.legacy-cast-behaviour",
    choice(LegacyCasts),
    default=LegacyCasts.DISABLED,
    doc="Whether casts are those of Flink before 1.15, which give NULL where they fail.",
    not_yet="write TRY_CAST where a cast that fails is to give NULL",
    not_yet_value=LegacyCasts.ENABLED,
)
UPSERT_MATERIALIZE = Option(
    "table.exec.sink.upsert-materialize",
    choice(UpsertMaterialize),
    default=UpsertMaterialize.AUTO,
    doc="Whether the rows of a sink's key are kept to find the last one: never, where the key is"
    " not the query's, or for every changing query.",
)
STATE_TTL = Option(
    "table.exec.state.ttl",
    DURATION,
    default=timedelta(0),
    doc="How long state outlives its last change; 0 keeps it as long as its rows live. What expires"
    " is forgotten, and what comes for it later is new.",
)
IDLE_TIMEOUT = Option(
    "table.exec.source.idle-timeout",
    DURATION,
    default=timedelta(0),
    doc="How long a partition without records holds the watermark back; 0 is for ever.",
)
CDC_DUPLICATES = Option(
    "table.exec.source.cdc-events-duplicate",
    BOOLEAN,
    default=False,
    doc="Whether change events may come twice; tables of them then need a primary key.",
)
MINI_BATCH = Option(
    "table.exec.mini-batch.enabled",
    BOOLEAN,
    default=False,
    doc="Flink's mini-batches; micro-batch mode always folds the changes of a batch.",
    not_yet="micro-batch mode folds every batch by itself; remove it",
)

RESULT_MODE = Option(
    "sql-client.execution.result-mode",
    choice(ResultMode),
    default=ResultMode.TABLEAU,
    doc="How a SELECT is shown: each change as it comes in a frame (`tableau`, `changelog`), or the"
    " rows that are left at the end (`table`, of a bounded run).",
)
MAX_COLUMN_WIDTH = Option(
    "table.display.max-column-width",
    integer(minimum=1),
    default=30,
    doc="Widest column that SELECT shows where the type does not say how wide it is.",
)
CLIENT_MAX_COLUMN_WIDTH = Option(
    "sql-client.display.max-column-width",
    integer(minimum=1),
    doc="The older name of `table.display.max-column-width`, which wins over it.",
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
    doc="Where CREATE FUNCTION finds Python modules: folders, `.py` and `.zip` files, with commas.",
)

DISTINCT_BITMAPS = Option(
    "table.exec.distinct-bitmaps.enabled",
    BOOLEAN,
    default=True,
    doc="Whether distinct integers of an append-only input are kept as bitmaps.",
)

STATE_ROWS = Option(
    "state.backend.rocksdb.metrics.estimate-num-keys",
    BOOLEAN,
    default=False,
    doc="Whether the rows of state are counted, exactly, for the metrics; it costs a read of the"
    " state for every write.",
)

STATE_ORDER = Option(
    "execution.micro-batch.state-order.enabled",
    BOOLEAN,
    default=True,
    doc="Whether the rows of a batch come to state in the order in which RocksDB keeps its keys, so"
    " that what stands side by side is read at once.",
)

AGGREGATION_PHASES = Option(
    "table.optimizer.agg-phase-strategy",
    choice(AggregationPhases),
    default=AggregationPhases.AUTO,
    doc="Whether each task sums up the rows of a group before they travel to its state, and keeps "
    "back those that others of its own come before in a Top-N.",
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
        FIRST_CHECKPOINTS,
        PRACTICE_PLANS,
        QUIET_BUFFER_TIMEOUT,
        RESTORE_SINKS,
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
        MINI_BATCH,
        DYNAMIC_TABLE_OPTIONS,
        RESULT_MODE,
        MAX_COLUMN_WIDTH,
        CLIENT_MAX_COLUMN_WIDTH,
        DISTINCT_BITMAPS,
        STATE_ORDER,
        PYTHON_FILES,
        STATE_ROWS,
        AGGREGATION_PHASES,
    ),
    passthrough="spark.",
)
