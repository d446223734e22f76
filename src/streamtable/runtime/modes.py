"""Micro-batch or real-time: what each asks of Spark, and which one a query runs in.

Spark's Real-time Mode runs every stage of a query at once and hands rows from one to the next.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from enum import Enum

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.readwriter import DataStreamWriter

from streamtable.connectors.kafka.partitioners import is_function
from streamtable.connectors.kafka.table import KafkaTable
from streamtable.core.durations import format_duration
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.options import Settings
from streamtable.core.settings import (
    CHECKPOINT_INTERVAL,
    EXECUTION_MODE,
    FIRST_CHECKPOINTS,
    ExecutionMode,
)
from streamtable.plan.nodes import Node, Root, Sink
from streamtable.plan.real_time import obstacle
from streamtable.plan.repeats import not_repeated
from streamtable.plan.state_ttl import expiring_nodes
from streamtable.plan.time_attributes import waits
from streamtable.runtime.preflight import source_tables

#: Time between two checkpoints of a real-time query where the script does not say. Between them
#: rows flow without a pause; at each one they wait for the state to be committed.
DEFAULT_INTERVAL = timedelta(seconds=60)

#: Time between the micro-batches of a query whose windows fire and whose state expires; in between
#: it would look at the clock without a pause.
PACE = "1 second"

#: Spark takes no shorter one from a user.
SHORTEST_INTERVAL = timedelta(seconds=5)

#: Between the first ones (`execution.real-time.first-checkpoints`).
FIRST_INTERVAL = timedelta(seconds=1)

#: How much further behind than where it begins real-time mode may fall before it is left.
GIVE_UP = 10


def next_mode(mode: ExecutionMode, behind: int, begin_at: int) -> ExecutionMode:
    """The mode that auto mode goes on in.

    Args:
        mode: the one it is in.
        behind: records between the query and the end of its topics.
        begin_at: at how many or fewer real-time mode begins. It ends at ten times as many, so that
            a short burst, and what comes in while Spark changes over, do not end it.
    """
    if mode is ExecutionMode.REAL_TIME:
        over = behind > begin_at * GIVE_UP
        return ExecutionMode.MICRO_BATCH if over else ExecutionMode.REAL_TIME
    return ExecutionMode.REAL_TIME if behind <= begin_at else ExecutionMode.MICRO_BATCH


def ends(plan: Root) -> bool:
    """Whether a query has read everything at some time.

    One over nothing but VALUES does, and one whose tables all have a `scan.bounded.mode`.
    """
    return all(table.bound is not None for table in source_tables([plan]))


class Extent(Enum):
    """How far one run of Spark's goes."""

    #: It does not end by itself.
    ENDLESS = "endless"
    #: To the end of what the topics hold when it begins.
    AVAILABLE = "available"
    #: Over the one batch that the checkpoint holds and that is not committed.
    ONE_BATCH = "one batch"


def with_trigger(
    records: DataFrame, plan: Node, mode: ExecutionMode, settings: Settings, extent: Extent
) -> DataStreamWriter:
    """A writer of the records with the trigger of the mode.

    Args:
        records: what it writes.
        plan: what the records are lowered from.
        mode: micro-batch or real-time.
        settings: the interval of checkpoints is one.
        extent: how far the run goes.
    """
    writer = records.writeStream.outputMode("update")
    if extent is Extent.AVAILABLE:
        return writer.trigger(availableNow=True)
    if extent is Extent.ONE_BATCH:
        return writer.trigger(once=True)
    if mode is ExecutionMode.MICRO_BATCH:
        return writer.trigger(processingTime=PACE) if _fires_and_expires(plan) else writer
    interval = checkpoint_interval(settings)
    if settings[FIRST_CHECKPOINTS]:
        interval = FIRST_INTERVAL
    time = f"{interval // timedelta(milliseconds=1)} milliseconds"
    # PySpark's own overloads do not name this trigger.
    real_time: DataStreamWriter = writer.trigger(realTime=time)  # type: ignore[call-overload]
    return real_time


@contextmanager
def with_empty_batches(
    spark: SparkSession, inputs: Iterable[Node], extent: Extent
) -> Iterator[None]:
    """Starts queries that may have batches without records, where those would ever end.

    Operators that wait for a watermark want one when it has moved. But Spark lets micro-batches
    follow one another without end for as long as a processor looks at the clock, as it does where
    state expires, so that a run over what the topics hold would never be over. Such queries have
    them only where some operator waits, at the pace of `with_trigger`. What has expired is unseen
    in any case; it is removed with the next batch.
    """
    key = "spark.sql.streaming.noDataMicroBatches.enabled"
    endless = extent is Extent.ENDLESS
    wanted = all(not _expires(node) or (endless and waits(node)) for node in inputs)
    spark.conf.set(key, wanted)
    try:
        yield
    finally:
        spark.conf.set(key, True)


def _fires_and_expires(plan: Node) -> bool:
    return _expires(plan) and waits(plan)


def _expires(plan: Node) -> bool:
    return next(expiring_nodes(plan), None) is not None


def checkpoint_interval(settings: Settings) -> timedelta:
    """Time between two checkpoints of real-time mode, once it has begun.

    Raises:
        StreamtableError: INVALID_OPTION for one that is too short.
    """
    interval = settings.get(CHECKPOINT_INTERVAL) or DEFAULT_INTERVAL
    if interval < SHORTEST_INTERVAL:
        raise StreamtableError(
            Condition.INVALID_OPTION,
            at=settings.at(CHECKPOINT_INTERVAL),
            option=CHECKPOINT_INTERVAL.key,
            value=settings.given[CHECKPOINT_INTERVAL.key].text,
            expected="at least 5 s, which real-time mode needs",
        )
    return interval


def mode_of(plan: Sink, settings: Settings, *, bounded: bool, restored: bool) -> ExecutionMode:
    """What a query is asked to run in: the setting, but micro-batches where it ends by itself.

    In auto mode a query that Real-time Mode does not take stays in micro-batches, and so does one
    whose rows a crash in real-time mode might leave behind, where its sink is not `restored`: taken
    back to the checkpoint that it goes on from.

    Raises:
        StreamtableError: NOT_YET or OPTION_CONFLICT where real-time mode itself is asked for.
    """
    mode = _wanted(plan, settings, bounded=bounded)
    if mode is ExecutionMode.MICRO_BATCH:
        return mode
    refusal = _refusal(plan, settings)
    if mode is ExecutionMode.REAL_TIME:
        if refusal is not None:
            raise refusal
        return mode
    exact = restored or not_repeated(plan.input) is None
    return mode if exact and refusal is None else ExecutionMode.MICRO_BATCH


def told_of_crashes(
    name: str, plan: Sink, settings: Settings, why: str, *, bounded: bool
) -> str | None:
    """What a user must know of a query whose rows a crash in real-time mode might leave behind.

    `why` says in words what keeps its sink from being taken back (`runtime.restoring`).
    """
    wanted = _wanted(plan, settings, bounded=bounded)
    what = not_repeated(plan.input)
    if what is None or wanted is ExecutionMode.MICRO_BATCH:
        return None
    if wanted is ExecutionMode.REAL_TIME:
        return (
            f"{name}: a crash may leave a row of {what} in {plan.table.name} until its key"
            f" changes again, because {why};"
            f" SET '{EXECUTION_MODE.key}' = 'micro-batch' for a table that is exact"
        )
    if _refusal(plan, settings) is not None:
        return None
    return (
        f"{name}: stays in micro-batches, because a crash in real-time mode might leave a row of"
        f" {what} behind, and {why}; SET '{EXECUTION_MODE.key}' = 'real-time' takes that"
    )


def _wanted(plan: Sink, settings: Settings, *, bounded: bool) -> ExecutionMode:
    """The mode that the settings ask for, of a query that does not end by itself."""
    mode: ExecutionMode = settings[EXECUTION_MODE]
    return ExecutionMode.MICRO_BATCH if bounded or ends(plan) else mode


def _refusal(plan: Sink, settings: Settings) -> StreamtableError | None:
    """What Spark's Real-time Mode has against a query."""
    reason = obstacle(plan.input)
    if reason is None:
        scans_ = (_scan_refusal(table, settings) for table in source_tables([plan]))
        return _sink_refusal(plan) or next(filter(None, scans_), None)
    return StreamtableError(
        Condition.NOT_YET,
        at=plan.at,
        what=f"the query into {plan.table.name} in real-time mode, because {reason},",
        hint="SET 'execution.mode' = 'micro-batch'",
    )


def _scan_refusal(table: KafkaTable, settings: Settings) -> StreamtableError | None:
    if table.scan_tasks is not None:
        return _not_yet("scan.parallelism", table)
    wanted, interval = table.discovery.interval, checkpoint_interval(settings)
    if wanted is None or wanted >= interval:
        return None
    return StreamtableError(
        Condition.OPTION_CONFLICT,
        at=table.at,
        reason=(
            f"{table.table} wants new partitions found every {format_duration(wanted)}, and a"
            f" batch of real-time mode, which looks once, lasts {format_duration(interval)}"
        ),
        hint=f"SET '{CHECKPOINT_INTERVAL.key}' = '{format_duration(wanted)}'",
    )


def _not_yet(option: str, table: KafkaTable) -> StreamtableError:
    return StreamtableError(
        Condition.NOT_YET,
        at=table.at,
        what=f"this '{option}' of {table.table} in real-time mode",
        hint=f"remove it, or SET '{EXECUTION_MODE.key}' = 'micro-batch'",
    )


def _sink_refusal(plan: Sink) -> StreamtableError | None:
    """NOT_YET for what cannot run row by row, OPTION_CONFLICT for an exactly-once sink.

    A batch of real-time mode has its end written down when it is over. One that is tried again may
    end elsewhere, so that what its transaction held cannot be told from what is new.
    """
    table = plan.table.connector
    assert isinstance(table, KafkaTable), "every connector is one over Kafka"  # noqa: S101
    if table.sink_tasks is not None:
        return _not_yet("sink.parallelism", table)
    if is_function(table):
        return _not_yet("sink.partitioner", table)
    if table.transaction_prefix is None:
        return None
    return StreamtableError(
        Condition.OPTION_CONFLICT,
        at=table.at,
        reason=(
            f"{table.table} is written exactly-once, which real-time mode cannot do, because"
            " where a batch ends there is known only when it is over"
        ),
        hint="SET 'execution.mode' = 'micro-batch', or use 'at-least-once'",
    )
