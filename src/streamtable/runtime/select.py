"""A SELECT on its own: one streaming query whose changes are printed as they come."""

from __future__ import annotations

import tempfile
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from streamtable.core.changelog import RowKind
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.options import Settings
from streamtable.core.result_table import ResultTable, received
from streamtable.core.settings import (
    CLIENT_MAX_COLUMN_WIDTH,
    EXECUTION_MODE,
    MAX_COLUMN_WIDTH,
    RESULT_MODE,
    ExecutionMode,
    ResultMode,
)
from streamtable.jvm.bridge import Bridge
from streamtable.jvm.faults import job_fault
from streamtable.jvm.planned_batches import plan_last_batch
from streamtable.jvm.progress import Progress
from streamtable.operators.context import LoweringContext
from streamtable.operators.lower import lower
from streamtable.plan.nodes import Collect
from streamtable.runtime.counts import left_out
from streamtable.runtime.ending import drains
from streamtable.runtime.job import RunOptions
from streamtable.runtime.modes import Extent, ends, with_empty_batches, with_trigger
from streamtable.runtime.moving_time import MovingTime
from streamtable.runtime.preflight import Notice, check_sources
from streamtable.runtime.stop_signals import stop_signals

#: Takes one line of the result.
Show = Callable[[str], None]

_NAME = "SELECT"
#: How often the query is looked at, in seconds.
_POLL_S = 0.2


@dataclass
class Printer:
    """What a query has given so far, and how it is shown.

    Attributes:
        changes: whether every change is shown as it comes, or the rows that are left at the end.
    """

    table: ResultTable
    show: Show
    changes: bool
    rows: Counter[tuple[str | None, ...]] = field(default_factory=Counter)
    count: int = 0

    def begin(self) -> None:
        """What stands above the rows."""
        for line in self.table.head():
            self.show(line)

    def take(self, batch: DataFrame, _number: int) -> None:
        """The changes of one batch, in the order in which its tasks gave them."""
        for row in batch.collect():
            kind, values = RowKind(row[0]), tuple(row[1:])
            if self.changes:
                self.count += 1
                self.show(self.table.row((kind.short, *values)))
            else:
                removed = kind in (RowKind.UPDATE_BEFORE, RowKind.DELETE)
                self.rows[values] += -1 if removed else 1

    def end(self) -> None:
        """What stands below the rows, before it those that are left."""
        for values, count in self.rows.items():
            for _ in range(count):
                self.count += 1
                self.show(self.table.row(values))
        self.show(self.table.rule())
        self.show(received(self.count))


def run_select(
    plan: Collect,
    settings: Settings,
    options: RunOptions,
    notice: Notice,
    show: Show,
    spark: SparkSession,
    stop: threading.Event | None = None,
) -> None:
    """Shows a query until its input ends, or until it is asked to stop, by a signal or an event.

    Its state lives in a temporary folder: what was shown is not taken up again.

    Raises:
        StreamtableError: NOT_YET for a mode in which it cannot be shown; whatever the query meets.
    """
    bounded = options.bounded or ends(plan)
    mode = settings[RESULT_MODE]
    _check(plan, settings, mode, bounded=bounded)
    bridge = Bridge(spark)
    widest = settings[MAX_COLUMN_WIDTH]
    if not settings.has(MAX_COLUMN_WIDTH):
        widest = settings.get(CLIENT_MAX_COLUMN_WIDTH) or widest
    changes = mode is not ResultMode.TABLE
    printer = Printer(ResultTable(plan.columns, widest, changes=changes), show, changes)
    with tempfile.TemporaryDirectory(prefix="streamtable-select-") as scratch:
        context = LoweringContext(spark, bridge, settings, bounded, directory=Path(scratch))
        for letters in check_sources([plan], bridge, notice, bounded=bounded, first_run=True):
            letters.create(bridge)
        rows = lower(plan.input, context)
        directory = f"{scratch}/query"

        def run(extent: Extent, asked: threading.Event) -> None:
            writer = (
                with_trigger(rows, plan.input, ExecutionMode.MICRO_BATCH, settings, extent)
                # Once per batch; its rows end at the terminal of this process anyway.
                .foreachBatch(printer.take)
                .option("checkpointLocation", directory)
            )
            with with_empty_batches(spark, [plan.input], extent):
                query = writer.start()
            try:
                _watch(query, asked, MovingTime(context, plan.input))
            finally:
                with suppress(StreamingQueryException):
                    query.stop()

        printer.begin()
        with stop_signals(stop) as asked:
            run(Extent.AVAILABLE if bounded else Extent.ENDLESS, asked)
            drained = bounded and drains(plan.input, settings) and not asked.is_set()
            if drained and plan_last_batch(bridge, directory):
                run(Extent.ONE_BATCH, asked)
        printer.end()
        counts = {name: counters.values() for name, counters in context.counters.items()}
        for line in left_out(counts):
            notice(line)


def _watch(query: StreamingQuery, stop: threading.Event, moving: MovingTime) -> None:
    """Returns when the query has ended or a stop was asked for; raises what ended it."""
    progress = Progress(query)
    while not stop.wait(_POLL_S):
        # Asked before the exception: a query that fails in between is seen by the next round.
        running = query.isActive
        failure = query.exception()
        if failure is not None:
            raise job_fault(_NAME, str(failure))
        if not running:
            return
        moving.look(query, ExecutionMode.MICRO_BATCH, progress.newest_batch)


def _check(plan: Collect, settings: Settings, mode: ResultMode, *, bounded: bool) -> None:
    what = hint = None
    if mode is ResultMode.TABLE and not bounded:
        what = f"'{RESULT_MODE.key}' = 'table' of a query without an end"
        hint = "SET it to 'tableau', or run with --bounded"
    elif not bounded and settings[EXECUTION_MODE] is ExecutionMode.REAL_TIME:
        what = "SELECT on its own in real-time mode"
        hint = "SET 'execution.mode' = 'micro-batch'"
    if what is not None:
        raise StreamtableError(Condition.NOT_YET, at=plan.at, what=what, hint=hint)
