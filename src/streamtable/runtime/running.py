"""One INSERT as a streaming query, in one mode after another where auto mode says so.

All modes share the checkpoint of the query, so a change of mode is a stop and a start. Auto mode
changes between two runs that have ended by themselves: it catches up by runs that read what the
topics hold when they begin, and leaves real-time mode only right after one of its checkpoints.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace

from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame
from pyspark.sql.streaming.listener import StreamingQueryProgress
from pyspark.sql.streaming.query import StreamingQuery

from streamtable.connectors.kafka.sink import writer_spec
from streamtable.core.settings import AUTO_LAG, ExecutionMode
from streamtable.jvm.faults import job_fault
from streamtable.jvm.kafka_admin import Partition
from streamtable.jvm.planned_batches import Stage, plan_empty_batch, plan_last_batch
from streamtable.jvm.progress import Progress
from streamtable.operators.context import LoweringContext
from streamtable.operators.sink import lower_sink, sink_table
from streamtable.plan.nodes import Sink
from streamtable.plan.time_attributes import waits
from streamtable.runtime.checkpoint import Checkpoint
from streamtable.runtime.ending import drains
from streamtable.runtime.lag import ends_ahead, positions, records_behind
from streamtable.runtime.modes import (
    Extent,
    ends,
    next_mode,
    told_of_crashes,
    with_empty_batches,
    with_trigger,
)
from streamtable.runtime.moving_time import MovingTime
from streamtable.runtime.preflight import Notice
from streamtable.runtime.real_time_run import RealTimeRun
from streamtable.runtime.restoring import RestoredSink, shared_obstacle

_POLL_S = 0.05


@dataclass
class RunningQuery:
    """A query of a job from its start to its end.

    Attributes:
        context: the job's choices; `context.mode` is what the query was asked to run in.
        sink: what is taken back before a start.
        stage: how far an earlier run, or this one, has come to the end of its input.
        mode: what it runs in now; never AUTO.
    """

    name: str
    plan: Sink
    context: LoweringContext
    checkpoint: Checkpoint
    notice: Notice
    sink: RestoredSink
    stage: Stage = Stage.OPEN
    mode: ExecutionMode = ExecutionMode.MICRO_BATCH
    _rows: dict[ExecutionMode, DataFrame] = field(default_factory=dict)
    _query: StreamingQuery | None = None
    _progress: Progress | None = None
    _looked_at: int | None = None
    _ahead: Mapping[Partition, int] = field(default_factory=dict)
    _told_shared: bool = False
    _time: MovingTime = field(init=False)
    _real_time: RealTimeRun = field(init=False)

    def __post_init__(self) -> None:
        self._time = MovingTime(self.context, self.plan.input)
        self._real_time = RealTimeRun(self.context, self.plan, self._directory)

    def prepare(self) -> None:
        """Puts the DataFrames together.

        Raises:
            StreamtableError: what only the cluster or a schema registry can tell.
        """
        wanted = self.context.mode
        # A query of real-time mode ends with a micro-batch that commits what it has done.
        modes = {wanted} if wanted is ExecutionMode.MICRO_BATCH else set(ExecutionMode)
        for mode in modes - {ExecutionMode.AUTO}:
            self._rows[mode] = lower_sink(self.plan, replace(self.context, mode=mode))

    @property
    def progress(self) -> StreamingQueryProgress | None:
        """What its newest batch since the last change of mode has done, if there is one."""
        return None if self._progress is None else self._progress.newest()

    @property
    def settled(self) -> bool:
        """Whether it runs in real-time mode with batches as long as was asked for."""
        return self.mode is ExecutionMode.REAL_TIME and self._real_time.settled

    def start(self) -> None:
        """Starts the query in the mode it was asked for; in auto mode it catches up first.

        One whose input has ended in an earlier run is not started, or only to end.
        """
        if self.stage is not Stage.OPEN:
            if self.stage is Stage.ENDING:
                self._start(ExecutionMode.MICRO_BATCH, Extent.ONE_BATCH)
            return
        real_time = self.context.mode is ExecutionMode.REAL_TIME
        if self.context.patient and self._ends_itself:
            self._ahead = ends_ahead(self.plan, self.context.bridge)
        if waits(self.plan.input) and not real_time and not self._ends_itself:
            plan_empty_batch(self.context.bridge, self._directory)
        if real_time and self.checkpoint.has_planned_batch(self.name):
            # Its rows may be in the sink, from micro-batches that repeat it as it was.
            self._start(ExecutionMode.MICRO_BATCH, Extent.ONE_BATCH)
            return
        self.change_to(ExecutionMode.REAL_TIME if real_time else ExecutionMode.MICRO_BATCH)

    def look(self) -> bool:
        """Whether the query goes on; changes its mode where it is time to.

        Raises:
            StreamtableError: what ended the query.
        """
        if self._query is None:
            return False
        # Asked before the exception: a query that fails in between is seen by the next look.
        active = self._running.isActive
        failure = self._running.exception()
        if failure is not None:
            raise job_fault(self.name, str(failure))
        if active:
            self._time.look(self._running, self.mode, self._batch)
            self._perhaps_stop_waiting()
            self._real_time.look(self._running, self._ended_batches)
            self._perhaps_not_alone()
        if self._comes_to_real_time(active=active):
            self.change_to(ExecutionMode.REAL_TIME)
            return True
        if self.context.mode is not ExecutionMode.AUTO:
            return active or self._begins_to_end()
        if self.mode is ExecutionMode.REAL_TIME:
            self._perhaps_fall_back()
        elif not active:
            self._after_catching_up()
        return True

    def finish(self, seconds: float) -> None:
        """Ends the query so that the next start finds little to do again.

        A micro-batch that runs may end; what real-time mode has done since its last checkpoint is
        committed by a micro-batch over the same records, which writes the same last rows again.
        Where those may be others the topic stays as it is, and the next start takes it back.

        Args:
            seconds: what is not done by then is broken off; the next start does it again.
        """
        if self._query is None:
            return
        deadline = time.monotonic() + seconds
        if self.mode is ExecutionMode.REAL_TIME:
            self.stop()
            if self.sink.is_to_be_taken_back:
                return
            self._start(ExecutionMode.MICRO_BATCH, Extent.AVAILABLE)
        begun = self._batch()
        while self._running.isActive and time.monotonic() < deadline:
            status = self._running.status
            if self._batch() != begun or not status["isTriggerActive"]:
                break
            time.sleep(_POLL_S)
        self.stop()
        if not self.checkpoint.has_planned_batch(self.name):
            self.sink.settled()

    def stop(self) -> None:
        """Breaks the query off."""
        if self._query is not None:
            with suppress(StreamingQueryException):
                self._query.stop()
            self.sink.after_stop()
            self._real_time.end()

    def change_to(self, mode: ExecutionMode) -> None:
        """Goes on in a mode, on the same checkpoint."""
        self.stop()
        catching_up = self.context.mode is ExecutionMode.AUTO and mode is ExecutionMode.MICRO_BATCH
        available = catching_up or (self._ends_itself and not self._ahead)
        self._start(mode, Extent.AVAILABLE if available else Extent.ENDLESS)

    @property
    def _ends_itself(self) -> bool:
        return self.context.bounded or ends(self.plan)

    def _begins_to_end(self) -> bool:
        """Whether a query that has read its input now begins its last batch, where it has one."""
        if self.stage is not Stage.OPEN or not self._ends_itself:
            return False
        if not drains(self.plan.input, self.context.settings):
            return False
        self.stage = Stage.ENDING
        if not plan_last_batch(self.context.bridge, self._directory):
            return False
        self._start(ExecutionMode.MICRO_BATCH, Extent.ONE_BATCH)
        return True

    @property
    def _directory(self) -> str:
        """Of its checkpoint."""
        return self.checkpoint.query_directory(self.name)

    @property
    def _running(self) -> StreamingQuery:
        assert self._query is not None, "a query is looked at after its start"  # noqa: S101
        return self._query

    def _start(self, mode: ExecutionMode, extent: Extent) -> None:
        """Starts Spark's query once its sink is as the checkpoint says."""
        self.sink.before_start(mode)
        context = self.context
        if mode is ExecutionMode.REAL_TIME:
            self._real_time.begin()
        trigger = with_trigger(self._rows[mode], self.plan.input, mode, context.settings, extent)
        writer = trigger.queryName(self.name).option("checkpointLocation", self._directory)
        table = sink_table(self.plan)
        spec = writer_spec(table, mode, self.name, self.checkpoint.id)
        context.bridge.set_writer(writer, spec, context.counters_of(table.table))
        with with_empty_batches(context.spark, [self.plan.input], extent):
            self._query = writer.start()
        self._progress = Progress(self._query)
        self.mode = mode
        self._looked_at = None

    def _perhaps_stop_waiting(self) -> None:
        """Begins the run that ends by itself once all ends of the query's scans are there."""
        progress = self.progress if self._ahead else None
        if progress is None:
            return
        reached = positions(source.endOffset for source in progress.sources)
        if all(reached.get(partition, 0) >= end for partition, end in self._ahead.items()):
            self._ahead = {}
            self.change_to(self.mode)

    def _after_catching_up(self) -> None:
        behind = self._behind()
        if behind is None:
            self.change_to(self.mode)
            return
        mode = next_mode(self.mode, behind, self.context.settings[AUTO_LAG])
        if mode is ExecutionMode.REAL_TIME:
            self.notice(f"{self.name}: {behind:,} records behind, goes on in real-time")
        self.change_to(mode)

    def _comes_to_real_time(self, *, active: bool) -> bool:
        """Whether the planned batch that comes before real-time mode has been run."""
        before = self.stage is Stage.OPEN and self.mode is ExecutionMode.MICRO_BATCH
        return before and not active and self.context.mode is ExecutionMode.REAL_TIME

    def _perhaps_not_alone(self) -> None:
        """Leaves real-time mode, or warns, where the sink is found to be written by others."""
        if self.mode is not ExecutionMode.REAL_TIME or self._told_shared or not self.sink.shared:
            return
        self._told_shared = True
        context = self.context
        why = shared_obstacle(self.sink.topic)
        line = told_of_crashes(self.name, self.plan, context.settings, why, bounded=context.bounded)
        if line is None:
            return
        self.notice(line)
        if context.mode is ExecutionMode.AUTO:
            self.context = replace(context, mode=ExecutionMode.MICRO_BATCH)
            self.change_to(ExecutionMode.MICRO_BATCH)

    def _perhaps_fall_back(self) -> None:
        batch = self._batch()
        if batch == self._looked_at:
            return
        self._looked_at = batch
        behind = self._behind()
        if behind is None:
            return
        mode = next_mode(self.mode, behind, self.context.settings[AUTO_LAG])
        if mode is not self.mode:
            self.notice(f"{self.name}: {behind:,} records behind, catches up in micro-batches")
            self.change_to(mode)

    def _batch(self) -> int | None:
        """The newest batch that has ended since the start, if any."""
        return None if self._progress is None else self._progress.newest_batch()

    def _ended_batches(self) -> int:
        return 0 if self._progress is None else self._progress.ended_batches()

    def _behind(self) -> int | None:
        """Records behind at the end of the newest batch; 0 where a run found nothing to do.

        None while the brokers do not answer.
        """
        progress = self.progress
        if progress is None:
            return 0
        reached = [source.endOffset for source in progress.sources]
        return records_behind(reached, self.plan, self.context.bridge)
