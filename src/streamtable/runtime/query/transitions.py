"""Transitions between the states of a query: the next state, and the reasons for a change."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field

from streamtable.connector_api.preflight import Notice
from streamtable.connector_api.sink import Rollback
from streamtable.core.checkpoint_path import CheckpointPath
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.settings.execution import AUTO_LAG, ExecutionMode
from streamtable.jvm.streaming.planned_batches import Stage, plan_empty_batch, plan_last_batch
from streamtable.operators.context import LoweringContext
from streamtable.plan.rules.watermarks import waits
from streamtable.plan.sink.sink import Sink
from streamtable.runtime.checkpoint.checkpoint import Checkpoint
from streamtable.runtime.metrics.lag import records_behind
from streamtable.runtime.query.awaited_ends import AwaitedEnds
from streamtable.runtime.query.end_of_input import drains
from streamtable.runtime.query.modes import crash_warning, is_bounded, next_mode
from streamtable.runtime.query.query_run import QueryRun
from streamtable.runtime.query.query_state import State
from streamtable.runtime.query.slots import TaskSlots

#: Maximum number of consecutive real-time batches that Spark may reject for lack of slots.
_REJECTIONS = 3


@dataclass
class Transitions:
    """Chooses the states of one query.

    Attributes:
        name: the name of the query.
        plan: the plan of the query.
        context: the job's lowering context; `context.mode` is the requested mode of the query.
        checkpoint: the job's checkpoint.
        notice: takes one line for the user.
        slots: the slots of the job.
        rollback: rolls the sink back before a start; None if the sink cannot be rolled back.
        stage: progress of earlier runs towards the end of the input.
    """

    name: str
    plan: Sink
    context: LoweringContext
    checkpoint: Checkpoint
    notice: Notice
    slots: TaskSlots
    rollback: Rollback | None
    stage: Stage
    #: The newest batch of real-time mode after which slots and lag were checked.
    _checked_batch: int | None = field(default=None, init=False)
    _warned_shared: bool = field(default=False, init=False)
    #: Number of rejected batches since the last checkpoint of real-time mode.
    _rejections: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self._awaited = AwaitedEnds(self.plan, self.context)

    def first(self) -> State:
        """Return the state after NEW."""
        if self.stage is Stage.ENDED:
            return State.ENDED
        if self.stage is Stage.ENDING:
            return State.ENDING
        if self.context.mode is ExecutionMode.REAL_TIME:
            # The sink may hold rows of a planned micro-batch: run the batch again as planned.
            planned = self.checkpoint.has_planned_batch(self.name)
            return State.REPEATING if planned else State.REAL_TIME
        if self.context.bounded or is_bounded(self.plan):
            awaits = self._awaited.are_ahead()
            return State.AWAITING_ENDS if awaits else State.READING_TO_END
        if waits(self.plan.input):
            plan_empty_batch(self.context.bridge, self._directory)
        auto = self.context.mode is ExecutionMode.AUTO
        return State.CATCHING_UP if auto else State.MICRO_BATCHES

    def begin_run(self) -> None:
        """Note that a run starts: the checks after a batch begin again."""
        self._checked_batch = None

    def after(self, state: State, run: QueryRun, *, ended: bool) -> State | None:
        """Return the next state, or None to stay in the current one.

        Args:
            state: the current state.
            run: the current run.
            ended: whether the run has ended by itself.

        Raises:
            StreamtableError: NOT_ENOUGH_SLOTS if the settings request real-time mode; errors of
                sources and sinks.
        """
        if state is State.REAL_TIME and not ended:
            return self._after_real_time(run)
        if state is State.AWAITING_ENDS and not ended:
            return State.READING_TO_END if self._awaited.are_read(run) else None
        if not ended:
            return None
        if state is State.REPEATING:
            return State.REAL_TIME
        if state is State.CATCHING_UP:
            return self._after_catching_up(run)
        if state is State.READING_TO_END and self._plans_last_batch():
            return State.ENDING
        return State.ENDED

    def after_failure(self, state: State, error: StreamtableError) -> State | None:
        """Return the next state after real-time mode has failed; None if the query ends.

        If records were deleted before they were read, micro-batches end the job or skip the
        records, as the options of the table say. If slots are missing, they may be free again in a
        moment, for example when another batch ends. If they stay missing, auto mode continues in
        micro-batches.
        """
        if state is not State.REAL_TIME:
            return None
        if error.condition is Condition.DATA_LOST:
            return State.CATCHING_UP
        if error.condition is not Condition.NOT_ENOUGH_SLOTS:
            return None
        self._rejections += 1
        if self._rejections < _REJECTIONS:
            return State.CATCHING_UP
        auto = self.context.mode is ExecutionMode.AUTO
        return self._give_up_real_time(error) if auto else None

    @property
    def _directory(self) -> CheckpointPath:
        return self.checkpoint.query_directory(self.name)

    def _plans_last_batch(self) -> bool:
        """Plan the last batch of a query at the end of its input; False if there is none."""
        if not drains(self.plan.input, self.context.settings):
            return False
        return plan_last_batch(self.context.bridge, self._directory)

    def _after_catching_up(self, run: QueryRun) -> State:
        behind = self._behind(run)
        if behind is None:
            return State.CATCHING_UP
        mode = next_mode(ExecutionMode.MICRO_BATCH, behind, self.context.settings[AUTO_LAG])
        if mode is not ExecutionMode.REAL_TIME:
            return State.CATCHING_UP
        self.notice(f"{self.name}: {behind:,} records behind, switches to real-time mode")
        return State.REAL_TIME

    def _after_real_time(self, run: QueryRun) -> State | None:
        if not self._warned_shared and self._shares_sink():
            return State.MICRO_BATCHES
        batch = run.newest_batch()
        if batch == self._checked_batch:
            return None
        # Both checks send requests to the brokers, so run them once after each checkpoint.
        self._checked_batch = batch
        self._rejections = 0
        missing = self._missing_slots()
        if missing is not None:
            if self.context.mode is ExecutionMode.REAL_TIME:
                raise missing
            return self._give_up_real_time(missing)
        if self.context.mode is ExecutionMode.AUTO and self._lags_too_far(run):
            return State.CATCHING_UP
        return None

    def _missing_slots(self) -> StreamtableError | None:
        try:
            return self.slots.missing(self.name)
        except StreamtableError:  # unreachable brokers: check again after the next checkpoint
            return None

    def _give_up_real_time(self, missing: StreamtableError) -> State:
        self.notice(f"{self.name}: stays in micro-batches: {missing}")
        with suppress(StreamtableError):
            self.slots.leave(self.name)
        return State.MICRO_BATCHES

    def _shares_sink(self) -> bool:
        """Warn if other writers of the sink are found; return whether to leave real-time mode."""
        why = None if self.rollback is None else self.rollback.shared_obstacle
        if why is None:
            return False
        self._warned_shared = True
        context = self.context
        line = crash_warning(
            self.name,
            self.plan,
            why,
            context.spark.version,
            bounded=context.bounded,
        )
        if line is None:
            return False
        self.notice(line)
        return context.mode is ExecutionMode.AUTO

    def _lags_too_far(self, run: QueryRun) -> bool:
        behind = self._behind(run)
        if behind is None:
            return False
        mode = next_mode(ExecutionMode.REAL_TIME, behind, self.context.settings[AUTO_LAG])
        if mode is ExecutionMode.REAL_TIME:
            return False
        self.notice(f"{self.name}: {behind:,} records behind, switches to micro-batches")
        return True

    def _behind(self, run: QueryRun) -> int | None:
        """Return the lag in records at the end of the newest batch; 0 if the run had no batch.

        The lag is None while the brokers do not respond.
        """
        progress = run.progress
        if progress is None:
            return 0
        reached = [source.endOffset for source in progress.sources]
        return records_behind(reached, self.plan, self.context.bridge)
