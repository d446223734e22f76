"""Execution modes: the Spark trigger of each mode, and the choice of micro-batch or real-time.

Spark's Real-time Mode runs all stages of a query concurrently and passes rows between them.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from enum import Enum

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.readwriter import DataStreamWriter

from streamtable.connector_api.endpoints import sink_of
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.options import Settings
from streamtable.core.settings.execution import EXECUTION_MODE, FIRST_CHECKPOINTS, ExecutionMode
from streamtable.core.settings.session import checkpoint_interval
from streamtable.jvm.install.installed_spark import minor_of, shuffles_in_real_time
from streamtable.plan.node import Node
from streamtable.plan.rules.real_time import obstacle
from streamtable.plan.rules.replay import replay_obstacle
from streamtable.plan.rules.state_ttl import expiring_nodes
from streamtable.plan.rules.watermarks import waits
from streamtable.plan.sink.reused_scan import only_in_batches, reuse_obstacle
from streamtable.plan.sink.sink import Root, Sink
from streamtable.runtime.endpoints import lookups_of, sources_of

#: Interval between micro-batches of a query whose windows fire and whose state expires. Without an
#: interval, the query would run empty batches without a pause to check the clock.
EXPIRY_INTERVAL = "1 second"

#: Interval of the first checkpoints (`execution.real-time.first-checkpoints`).
FIRST_INTERVAL = timedelta(seconds=1)

#: Held while a setting of a session is changed for the start of a query.
_SETTING = threading.Lock()

#: Auto mode leaves real-time mode if the lag exceeds the lag for its start by this factor.
GIVE_UP = 10


def next_mode(mode: ExecutionMode, behind: int, begin_at: int) -> ExecutionMode:
    """Choose the next mode of a query in auto mode.

    Args:
        mode: the current mode.
        behind: the lag: records between the query and the end of its sources.
        begin_at: maximum lag for the start of real-time mode. Real-time mode ends at ten times this
            lag, so that a short burst, or records that arrive while Spark changes the mode, do not
            end it.
    """
    if mode is ExecutionMode.REAL_TIME:
        over = behind > begin_at * GIVE_UP
        return ExecutionMode.MICRO_BATCH if over else ExecutionMode.REAL_TIME
    return ExecutionMode.REAL_TIME if behind <= begin_at else ExecutionMode.MICRO_BATCH


def is_bounded(plan: Root) -> bool:
    """Whether the input of a query is bounded.

    The input is bounded if the query reads only VALUES, or if all of its tables have a
    `scan.bounded.mode`.
    """
    return all(source.is_bounded for source in sources_of([plan]))


class Extent(Enum):
    """Extent of one Spark run of a query."""

    #: The run does not end by itself.
    ENDLESS = "endless"
    #: The run ends at the end offsets that the sources had at its start.
    AVAILABLE = "available"
    #: The run executes only the planned and uncommitted batch of the checkpoint.
    ONE_BATCH = "one batch"


def with_trigger(
    records: DataFrame, plan: Node, mode: ExecutionMode, settings: Settings, extent: Extent
) -> DataStreamWriter:
    """Return a stream writer with the trigger of the execution mode.

    Args:
        records: the records to write.
        plan: the plan from which the records are lowered.
        mode: micro-batch or real-time.
        settings: settings of the query; they include the checkpoint interval.
        extent: extent of the run.
    """
    writer = records.writeStream.outputMode("update")
    if extent is Extent.AVAILABLE:
        return writer.trigger(availableNow=True)
    if extent is Extent.ONE_BATCH:
        return writer.trigger(once=True)
    if mode is ExecutionMode.MICRO_BATCH:
        return (
            writer.trigger(processingTime=EXPIRY_INTERVAL) if _fires_and_expires(plan) else writer
        )
    interval = checkpoint_interval(settings)
    if settings[FIRST_CHECKPOINTS]:
        interval = FIRST_INTERVAL
    time = f"{interval // timedelta(milliseconds=1)} milliseconds"
    # PySpark's type hints do not declare this trigger.
    real_time: DataStreamWriter = writer.trigger(realTime=time)  # type: ignore[call-overload]
    return real_time


@contextmanager
def with_empty_batches(
    spark: SparkSession, inputs: Iterable[Node], extent: Extent
) -> Iterator[None]:
    """Enable empty batches for queries that start in this block, unless they would never end.

    Operators that wait for a watermark need an empty batch after the watermark has advanced. But
    Spark starts micro-batches one after another without end as long as a processor uses the clock,
    as operators with state TTL do. A run to the end offsets of the sources would then never end.
    Therefore queries with state TTL have empty batches only if an operator waits for a watermark
    and the run is endless, at the interval of `with_trigger`. Expired state is hidden at once in
    any case, and deleted in the next batch.
    """
    key = "spark.sql.streaming.noDataMicroBatches.enabled"
    endless = extent is Extent.ENDLESS
    wanted = all(not _expires(node) or (endless and waits(node)) for node in inputs)
    with _SETTING:
        before = str(spark.conf.get(key))
        spark.conf.set(key, wanted)
        try:
            yield
        finally:
            spark.conf.set(key, before)


def _fires_and_expires(plan: Node) -> bool:
    return _expires(plan) and waits(plan)


def _expires(plan: Node) -> bool:
    return next(expiring_nodes(plan), None) is not None


def mode_of(plan: Sink, spark: str, *, bounded: bool, rolls_back: bool) -> ExecutionMode:
    """Choose the execution mode of a query: the setting, or micro-batches if its input is bounded.

    `spark` is the version of Spark.

    In auto mode a query stays in micro-batches in two cases: Real-time Mode does not support the
    query, or a crash in real-time mode might leave transient rows in its sink and the sink is not
    rolled back to the checkpoint from which the query continues.

    Raises:
        StreamtableError: NOT_YET or OPTION_CONFLICT if the settings request real-time mode.
    """
    mode = _wanted(plan, bounded=bounded)
    if mode is ExecutionMode.MICRO_BATCH:
        return mode
    refusal = _refusal(plan, spark)
    if mode is ExecutionMode.REAL_TIME:
        if refusal is not None:
            raise refusal
        return mode
    exact = rolls_back or replay_obstacle(plan.input) is None
    return mode if exact and refusal is None else ExecutionMode.MICRO_BATCH


def plan_for_modes(plan: Sink, spark: str, *, bounded: bool) -> Sink:
    """Return a plan for the modes in which a query may run; `spark` is the version of Spark."""
    wanted = _wanted(plan, bounded=bounded)
    in_batches = wanted is ExecutionMode.MICRO_BATCH or _refusal(plan, spark) is not None
    return only_in_batches(plan) if in_batches else plan


def mode_warning(name: str, plan: Sink, spark: str, *, bounded: bool) -> str | None:
    """Return why auto mode stays in micro-batches, or None.

    Nothing is returned if neither another version of Spark nor another checkpoint would change the
    mode.
    """
    auto = _wanted(plan, bounded=bounded) is ExecutionMode.AUTO
    if not auto or _obstacle(plan) is not None:
        return None
    reason = _lacks(plan, spark) or reuse_obstacle(plan)
    return reason and f"{name}: stays in micro-batches, because {reason}"


def crash_warning(name: str, plan: Sink, why: str, spark: str, *, bounded: bool) -> str | None:
    """Return a warning about rows that a crash in real-time mode might leave, or None.

    Args:
        name: the name of the query.
        plan: its plan.
        why: the reason, in words, why the sink cannot be rolled back
            (`runtime.preflight.rollback`).
        spark: the version of Spark.
        bounded: whether the run is bounded.
    """
    wanted = _wanted(plan, bounded=bounded)
    what = replay_obstacle(plan.input)
    if what is None or wanted is ExecutionMode.MICRO_BATCH:
        return None
    if wanted is ExecutionMode.REAL_TIME:
        return (
            f"{name}: a crash may leave a transient row of {what} in {plan.table.name} until"
            f" its key changes again, because {why}; SET '{EXECUTION_MODE.key}' = 'micro-batch'"
            " to avoid this"
        )
    if _refusal(plan, spark) is not None:
        return None
    return (
        f"{name}: stays in micro-batches, because a crash in real-time mode might leave a"
        f" transient row of {what}, and {why}; SET '{EXECUTION_MODE.key}' = 'real-time' accepts"
        " this"
    )


def _wanted(plan: Sink, *, bounded: bool) -> ExecutionMode:
    """Return the mode that the settings request; micro-batches if the input is bounded."""
    mode: ExecutionMode = plan.settings[EXECUTION_MODE]
    return ExecutionMode.MICRO_BATCH if bounded or is_bounded(plan) else mode


def _refusal(plan: Sink, spark: str) -> StreamtableError | None:
    """Return the error why real-time mode of a Spark does not support a query, or None."""
    found = _obstacle(plan)
    if found is not None:
        return found
    lacks = _lacks(plan, spark)
    if lacks is not None:
        return _not_yet(plan, lacks, " or use a newer Spark")
    # Last: a query that runs in micro-batches for another reason reads its tables once as well.
    reused = reuse_obstacle(plan)
    return None if reused is None else _not_yet(plan, reused)


def _lacks(plan: Sink, spark: str) -> str | None:
    """Return what real-time mode of a Spark lacks for a query, in words; None if nothing."""
    if not plan.input.shuffles or shuffles_in_real_time(spark):
        return None
    return f"real-time mode of Spark {minor_of(spark)} runs only queries without state"


def _obstacle(plan: Sink) -> StreamtableError | None:
    """Return the error why no Spark and no checkpoint would help a query, or None."""
    reason = obstacle(plan.input)
    if reason is None:
        refusals = [
            *(source.real_time_obstacle(plan.settings) for source in sources_of([plan])),
            *(lookup.real_time_obstacle(plan.settings) for lookup in lookups_of([plan])),
        ]
        return sink_of(plan.table).real_time_obstacle() or next(filter(None, refusals), None)
    return _not_yet(plan, reason)


def _not_yet(plan: Sink, reason: str, instead: str = "") -> StreamtableError:
    return StreamtableError(
        Condition.NOT_YET,
        at=plan.at,
        what=f"the query into {plan.table.name} in real-time mode, because {reason},",
        hint=f"SET 'execution.mode' = 'micro-batch'{instead}",
    )
