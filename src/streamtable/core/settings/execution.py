"""Settings of the execution: mode, checkpoints, micro-batches, real-time mode, state."""

from __future__ import annotations

from datetime import timedelta
from enum import Enum

from streamtable.core.option_kinds import (
    BOOLEAN,
    DURATION,
    TEXT,
    choice,
    duration,
    integer,
    long_integer,
)
from streamtable.core.options import Option


class ExecutionMode(Enum):
    """Execution mode of a query on Spark."""

    MICRO_BATCH = "micro-batch"
    REAL_TIME = "real-time"
    AUTO = "auto"


class RuntimeMode(Enum):
    """Flink's `execution.runtime-mode`."""

    STREAMING = "streaming"
    BATCH = "batch"


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
    long_integer(minimum=0),
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
    default=20,
    doc="Number of initial checkpoints in real-time mode that are one second apart. Rows wait"
    " at a checkpoint, and the first checkpoints take longest, because the JVM has not"
    " compiled their code yet.",
)

PRACTICE_PLANS = Option(
    "execution.real-time.practice-plans",
    integer(minimum=0),
    default=150,
    doc="Planner warm-up: number of batches that real-time mode plans in the background after"
    " its start without running them, so that the JVM compiles the planner. Thirty are planned"
    " at once, and the others at intervals of 0.2 s. It happens once per process.",
)

BUNDLE_SIZE = Option(
    "execution.real-time.bundle-size",
    integer(minimum=1),
    default=1_000,
    doc="Maximum number of rows that a stateful operator of real-time mode combines. It combines"
    " rows that have arrived, and waits for none. So an operator that keeps up emits a change for"
    " each row, and one that is behind emits fewer changes and catches up sooner. With 1, each row"
    " is processed by itself. So it is where a combination would have another result: in operators"
    " whose state expires or that work in processing time, and in aggregates that depend on the"
    " order of rows without positions, for example above a join.",
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
    default=True,
    doc="Whether a start of real-time mode may change the configuration of an existing topic that"
    " `execution.real-time.restore-sinks` needs. A compacted topic with a shorter"
    " `min.compaction.lag.ms`, such as the brokers' default 0, gets one of one hour, or of ten"
    " checkpoint intervals: brokers then compact a record an hour later. The job says so. The user"
    " needs ALTER_CONFIGS of the topic. If the topic cannot be changed, or with `false`, such a"
    " query stays in micro-batches in `auto` mode.",
)

MAX_LEAD = Option(
    "execution.max-lead",
    long_integer(minimum=1),
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
    long_integer(minimum=1),
    default=1_000_000,
    doc="Maximum number of records that a micro-batch reads from one table. A connector that knows"
    " how many records are left reads up to 1 % more if the next batch would have only these.",
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
