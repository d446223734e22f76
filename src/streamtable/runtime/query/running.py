"""A streaming query of a job: a Spark run for each of its states.

All modes share the checkpoint of the query, so a change of mode is a stop and a start. While auto
mode catches up, each run reads up to the end offsets that the sources had at its start. Auto mode
changes to real-time mode when one of these runs has ended by itself. Auto mode leaves real-time
mode only directly after a checkpoint.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field, replace

from pyspark.sql import DataFrame
from pyspark.sql.streaming.listener import StreamingQueryProgress

from streamtable.connector_api.preflight import Notice
from streamtable.connector_api.sink import Rollback, SinkFacts, SinkTimer
from streamtable.core.checkpoint_path import CheckpointPath
from streamtable.core.errors import StreamtableError
from streamtable.core.settings.execution import DRAIN, ExecutionMode
from streamtable.jvm.bridge import Bridge
from streamtable.jvm.streaming.planned_batches import (
    Stage,
    expect_last_batch,
    expect_no_last_batch,
)
from streamtable.jvm.streaming.running_queries import current_watermark
from streamtable.operators.context import LoweringContext
from streamtable.plan.sink.sink import Sink
from streamtable.runtime.checkpoint.checkpoint import Checkpoint
from streamtable.runtime.endpoints import explains
from streamtable.runtime.query.end_of_input import drains
from streamtable.runtime.query.job_query import JobQuery
from streamtable.runtime.query.modes import (
    with_empty_batches,
    with_trigger,
)
from streamtable.runtime.query.pending_rewrites import PendingRewrites
from streamtable.runtime.query.query_run import QueryRun
from streamtable.runtime.query.query_state import State
from streamtable.runtime.query.real_time_mark import RealTimeMark
from streamtable.runtime.query.real_time_run import RealTimeRun
from streamtable.runtime.query.slots import TaskSlots
from streamtable.runtime.query.transitions import Transitions
from streamtable.runtime.query.watermark_advance import WatermarkAdvance

#: States after the end of the input. A stop leads to the second one, too.
_FINISHED = (State.ENDING, State.ENDED)


@dataclass
class RunningQuery:
    """A query of a job, from its start to its end.

    Attributes:
        query: the query.
        context: the job's lowering context; `context.mode` is the requested mode of the query.
        facts: facts for the sink about the query.
        slots: the slots of the job.
        rollback: rolls the sink back before a start; None if the sink cannot be rolled back.
        stage: progress of earlier runs towards the end of the input.
        state: current state of the query; only `_enter` changes it.
        finished: whether the query has read its input to the end, in this run or an earlier one.
    """

    query: JobQuery
    context: LoweringContext
    checkpoint: Checkpoint
    notice: Notice
    facts: SinkFacts
    slots: TaskSlots
    rollback: Rollback | None
    stage: Stage = Stage.OPEN
    state: State = field(default=State.NEW, init=False)
    finished: bool = field(default=False, init=False)
    _run: QueryRun | None = field(default=None, init=False)
    _rows: dict[ExecutionMode, DataFrame] = field(default_factory=dict, init=False)
    _timer: SinkTimer | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self._watermark = WatermarkAdvance(self.context, self.plan.input)
        self._real_time = RealTimeRun(self.context)
        self._rewrites = PendingRewrites(self.plan, self.context.bridge)
        self._mark = RealTimeMark(self.plan, self._directory, self.context.bridge)
        self._transitions = Transitions(
            self.name,
            self.plan,
            self.context,
            self.checkpoint,
            self.notice,
            self.slots,
            self.rollback,
            self.stage,
        )

    def prepare(self) -> None:
        """Lower the plan into DataFrames, one per execution mode that the query may use.

        Raises:
            StreamtableError: errors that only the cluster or a schema registry can detect.
        """
        wanted = self.context.mode
        # A query in real-time mode ends with a micro-batch that commits its work.
        modes = {wanted} if wanted is ExecutionMode.MICRO_BATCH else set(ExecutionMode)
        for mode in modes - {ExecutionMode.AUTO}:
            # A bridge numbers the readers, and transactional ids contain these numbers. They must
            # not depend on other queries, nor on the other mode.
            bridge = Bridge(self.context.spark)
            context = replace(self.context, mode=mode, bridge=bridge)
            self._rows[mode] = bridge.for_writers(self.query.rows(context, self.facts))

    @property
    def name(self) -> str:
        """The name of the query, unique in the job."""
        return self.query.name

    @property
    def plan(self) -> Sink:
        """The plan of the query, as far as its source and its operators matter."""
        return self.query.plan

    @property
    def progress(self) -> StreamingQueryProgress | None:
        """Progress of the newest batch since the last change of state, or None."""
        return None if self._run is None else self._run.progress

    @property
    def settled(self) -> bool:
        """Whether the query is in real-time mode with the configured checkpoint interval."""
        return self.state is State.REAL_TIME and self._real_time.settled

    def start(self) -> None:
        """Start the query in the requested mode; in auto mode it catches up first.

        If the input of the query has ended in an earlier run, the query does not start, or starts
        only to run its last batch.
        """
        self._timer = self.query.timer(self.facts, self.context)
        self._enter(self._transitions.first())
        self.finished = self.state in _FINISHED
        if not self.state.runs:
            self._end_input()

    def wait_for_end(self, stop: threading.Event, seconds: float) -> None:
        """Wait until the current run has ended, until a stop request or until the timeout."""
        if self._run is not None:
            self._run.wait_for_end(stop, seconds)

    def poll(self) -> bool:
        """Poll the query, and change its state if a transition is due.

        Returns:
            Whether the query still runs.

        Raises:
            StreamtableError: the error that ended the query.
        """
        if self._run is None or not self.state.runs:
            return False
        try:
            ended = self._run.has_ended()
        except StreamtableError as error:
            following = self._transitions.after_failure(self.state, error)
            if following is None:
                raise
            self._enter(following)
            return True
        self._rewrites.update(self._run, self.state, ended=ended)
        self._mark.update(self._run, self.state, ended=ended)
        if self._timer is not None:
            self._timer.advance(current_watermark(self.context.bridge, self._run.query))
        if not ended:
            mode, newest = self.state.mode, self._run.newest_batch
            self._watermark.advance(self._run.query, mode, newest)
            self._real_time.update(self._run.query, self._run.ended_batches)
        following = self._transitions.after(self.state, self._run, ended=ended)
        if following is not None:
            self._enter(following)
            self.finished = following in _FINISHED
        if following is State.ENDED:
            self._end_input()
        return self.state.runs

    def _end_input(self) -> None:
        """Let the sink do what waits, unless settings keep it for a later run."""
        if self._timer is not None and self.context.settings[DRAIN]:
            self._timer.end_input()

    def finish(self, seconds: float) -> None:
        """End the query gracefully, so that the next start has little work to repeat.

        A running micro-batch may complete. A micro-batch over the same records commits the work of
        real-time mode since its last checkpoint, and writes the same last rows again. If the replay
        is not deterministic, these rows may differ. Then the sink stays unchanged, and the next
        start rolls it back. But if this start has rolled the sink back, the query first writes the
        rolled-back rows again. Otherwise the sink would be older than before the start.

        Args:
            seconds: timeout. The query is then stopped, and the next start repeats the rest of the
                work.

        Raises:
            StreamtableError: the error that has ended the query since the last poll.
        """
        if self._run is None or not self.state.runs:
            return
        deadline = time.monotonic() + seconds
        if self.state is State.REAL_TIME:
            self._rewrites.update(self._run, self.state, ended=False)
            self._enter(State.ENDED)
            if not self._rewrites.is_open and self.rollback is not None and self.rollback.pending:
                return
            self._enter(State.COMMITTING)
        self._rewrites.settle(self._run, self.state, deadline)
        self._run.wait_for_batch(deadline)
        self._mark.settle(self._run, self.state, deadline)
        failure = self._run.failure()
        self._enter(State.ENDED)
        if failure is not None:
            raise failure
        if self.rollback is not None and not self.checkpoint.has_planned_batch(self.name):
            self.rollback.settled()

    def stop(self) -> None:
        """Stop the query without waiting for its batch."""
        self._enter(State.ENDED)
        if self._timer is not None:
            self._timer.close()
        if self._rewrites.is_open:
            self._rewrites.close()
            self.notice(
                f"{self.name}: stopped before all rolled-back rows were written again; until"
                f" the next start, readers of {self.plan.table.name} see keys as of the last"
                " checkpoint"
            )

    def _enter(self, state: State) -> None:
        """End the run of the current state, and start the run of the next state."""
        self._break_off()
        if state.runs:
            self._run = self._started(state)
        self.state = state

    def _break_off(self) -> None:
        if self._run is not None and self.state.runs:
            self._run.stop()
            expect_no_last_batch(self.context.bridge, self._directory)
            if self.rollback is not None:
                self.rollback.after_stop()
            self._real_time.end()

    def _started(self, state: State) -> QueryRun:
        """Start a Spark run, after the sink has been rolled back to the checkpoint if needed."""
        mode, extent, context = state.mode, state.extent, self.context
        if self.rollback is not None and self.rollback.before_start(mode):
            self._rewrites.begin()
        self._mark.before_start(mode)
        if mode is ExecutionMode.REAL_TIME:
            self._real_time.begin()
        trigger = with_trigger(self._rows[mode], self.plan.input, mode, context.settings, extent)
        writer = trigger.queryName(self.name).option("checkpointLocation", str(self._directory))
        self.query.write(writer, self.facts, replace(context, mode=mode))
        self._transitions.begin_run()
        if state is State.READING_TO_END and drains(self.plan.input, context.settings):
            expect_last_batch(context.bridge, self._directory)
        else:  # also after a run that was to end the input and did not start
            expect_no_last_batch(context.bridge, self._directory)
        with with_empty_batches(context.spark, [self.plan.input], extent):
            return QueryRun(self.query.title, writer, explains(self.query.plans))

    @property
    def _directory(self) -> CheckpointPath:
        """Checkpoint directory of the query."""
        return self.checkpoint.query_directory(self.name)
