"""A SELECT statement: one streaming query whose changes a receiver takes as they arrive."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Protocol

from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from streamtable.connector_api.preflight import Notice, Preflight
from streamtable.core.errors import Condition, InternalError, StreamtableError
from streamtable.core.options import Settings
from streamtable.core.settings.execution import EXECUTION_MODE, ExecutionMode
from streamtable.jvm.bridge import Bridge
from streamtable.jvm.faults import Explain, job_fault
from streamtable.jvm.streaming.planned_batches import (
    expect_last_batch,
    expect_no_last_batch,
    plan_last_batch,
)
from streamtable.jvm.streaming.progress import Progress
from streamtable.operators.context import LoweringContext
from streamtable.operators.lower import lower
from streamtable.plan.sink.sink import Collect
from streamtable.runtime.checkpoint.scan_ends import ScanEnds
from streamtable.runtime.endpoints import explains
from streamtable.runtime.job import RunOptions
from streamtable.runtime.metrics.omitted_records import omitted_records
from streamtable.runtime.preflight.preflight import examine_sources
from streamtable.runtime.query.awaited_ends import AwaitedEnds
from streamtable.runtime.query.end_of_input import drains
from streamtable.runtime.query.modes import Extent, is_bounded, with_empty_batches, with_trigger
from streamtable.runtime.query.query_run import wait_for_end
from streamtable.runtime.query.watermark_advance import WatermarkAdvance

_NAME = "SELECT"
#: Poll interval of the query, in seconds.
_POLL_S = 0.2


class Receiver(Protocol):
    """Takes the result of a query."""

    def begin(self) -> None:
        """Called before the query starts."""

    def take(self, batch: DataFrame, number: int) -> None:
        """Process the changes of one batch: row kind, then the columns."""

    def end(self) -> None:
        """Called after the query has ended or has been stopped."""


class _Once:
    """Hands each batch to a receiver once.

    A run repeats the batch in which the previous run was stopped.
    """

    def __init__(self, receiver: Receiver) -> None:
        self._receiver = receiver
        self._newest = -1
        self._stops = False
        self._lock = threading.Lock()

    def take(self, batch: DataFrame, number: int) -> None:
        """Process the changes of one batch, unless the receiver has them."""
        with self._lock:
            if self._stops:
                msg = "the run is being stopped"  # so that Spark does not commit the batch
                raise InternalError(msg)
            if number > self._newest:
                self._receiver.take(batch, number)
                self._newest = number
            else:
                batch.write.format("noop").mode("append").save()  # computes its state

    def pause(self) -> None:
        """Hand over no more batches, until `resume`; wait for one that is being handed over.

        A receiver may be slow, and Spark's stop waits for it only for a limited time.
        """
        with self._lock:
            self._stops = True

    def resume(self) -> None:
        """Hand batches over again."""
        self._stops = False


def run_select(
    plan: Collect,
    settings: Settings,
    options: RunOptions,
    notice: Notice,
    receiver: Receiver,
    spark: SparkSession,
    stop: threading.Event,
) -> None:
    """Send the result of a query to a receiver until its input ends or the stop event is set.

    The query stores its state in a temporary directory: a later run does not continue it.

    Raises:
        StreamtableError: NOT_YET for an unbounded query in real-time mode; any error of the query.
    """
    bounded = options.bounded or is_bounded(plan)
    if not bounded and settings[EXECUTION_MODE] is ExecutionMode.REAL_TIME:
        raise StreamtableError(
            Condition.NOT_YET,
            at=plan.at,
            what="a SELECT statement in real-time mode",
            hint="SET 'execution.mode' = 'micro-batch'",
        )
    bridge = Bridge(spark)
    with tempfile.TemporaryDirectory(
        prefix="streamtable-select-", ignore_cleanup_errors=True
    ) as scratch:
        context = LoweringContext(
            spark,
            bridge,
            settings,
            bounded,
            patient=not options.bounded,
            directory=Path(scratch),
            source_of=ScanEnds(Path(scratch), bridge).source_of,
        )
        preflight = Preflight(bridge, settings, notice, bounded=bounded, first_run=True)
        for resource in examine_sources([plan], preflight):
            resource.create()
        directory = f"{scratch}/query"

        once = _Once(receiver)

        def run(extent: Extent, done: Callable[[], bool] = lambda: False) -> None:
            writer = (
                with_trigger(rows, plan.input, ExecutionMode.MICRO_BATCH, settings, extent)
                # Called once per batch. The rows go to this process anyway.
                .foreachBatch(once.take)
                .option("checkpointLocation", directory)
            )
            with with_empty_batches(spark, [plan.input], extent):
                query = writer.start()

            def is_over() -> bool:
                wait_for_end(query, stop, _POLL_S)
                return stop.is_set() or done()

            try:
                advance = WatermarkAdvance(context, plan.input)
                _watch(query, is_over, advance, explains([plan]))
                if not stop.is_set():
                    once.pause()
            finally:
                with suppress(StreamingQueryException):
                    query.stop()
                once.resume()

        if stop.is_set():
            return
        with closing(context.watermarks):
            rows = lower(plan.input, context)
            receiver.begin()
            awaited = AwaitedEnds(plan, context)
            if bounded and awaited.are_ahead():
                run(Extent.ENDLESS, awaited.are_there)
            drained = bounded and drains(plan.input, settings)
            if drained:
                expect_last_batch(bridge, Path(directory))
            try:
                if not stop.is_set():
                    run(Extent.AVAILABLE if bounded else Extent.ENDLESS)
            finally:
                expect_no_last_batch(bridge, Path(directory))
            if drained and not stop.is_set() and plan_last_batch(bridge, Path(directory)):
                run(Extent.ONE_BATCH)
        receiver.end()
        counts = {name: counters.values() for name, counters in context.counters.items()}
        for found in omitted_records(counts):
            notice(str(found))


def _watch(
    query: StreamingQuery,
    is_over: Callable[[], bool],
    advance: WatermarkAdvance,
    explained: Sequence[Explain] = (),
) -> None:
    """Wait until the query has ended; raise the error of the query.

    Args:
        query: the query.
        is_over: waits a moment, and returns whether to leave the query as it is.
        advance: advances the watermark of the query.
        explained: functions that explain the exceptions of the query.
    """
    progress = Progress(query)
    while not is_over():
        # Read the state before the exception: the next poll sees a failure in between.
        running = query.isActive
        failure = query.exception()
        if failure is not None:
            raise job_fault(_NAME, str(failure), explained)
        if not running:
            return
        advance.advance(query, ExecutionMode.MICRO_BATCH, progress.newest_batch)
