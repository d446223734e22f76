"""States of a query of a job, and the Spark run of each state."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from streamtable.core.settings.execution import ExecutionMode
from streamtable.runtime.query.modes import Extent


class State(Enum):
    """State of a query. `Transitions` chooses the next state."""

    #: The query has not been started.
    NEW = "new"
    #: The query runs the batch that an earlier run has planned. Next: real-time mode.
    REPEATING = "repeating"
    #: The query reads unbounded input in micro-batches.
    MICRO_BATCHES = "micro-batches"
    #: The query reads until its sources have reached the ends of its scans. Next: reading to the
    #: end.
    AWAITING_ENDS = "awaiting ends"
    #: The query reads the current content of its sources. Next: the last batch, if there is one.
    READING_TO_END = "reading to the end"
    #: Auto mode: the query reads the backlog of its sources. Next: real-time mode, when the lag is
    #: low.
    CATCHING_UP = "catching up"
    #: The query reads row by row. In auto mode it catches up again if the lag grows too high.
    REAL_TIME = "real-time"
    #: The query runs the last batch, which drains windows and joins.
    ENDING = "ending"
    #: After a stop request, the query commits the work of real-time mode since its last checkpoint.
    COMMITTING = "committing"
    #: The query has ended.
    ENDED = "ended"

    @property
    def runs(self) -> bool:
        """Whether Spark runs the query in this state."""
        return self in _RUNS

    @property
    def mode(self) -> ExecutionMode:
        """Execution mode of the run; micro-batches if nothing runs."""
        return _RUNS[self][0] if self.runs else ExecutionMode.MICRO_BATCH

    @property
    def extent(self) -> Extent:
        """Extent of the run. Only valid for a state with a run."""
        return _RUNS[self][1]


_RUNS: Mapping[State, tuple[ExecutionMode, Extent]] = {
    State.REPEATING: (ExecutionMode.MICRO_BATCH, Extent.ONE_BATCH),
    State.MICRO_BATCHES: (ExecutionMode.MICRO_BATCH, Extent.ENDLESS),
    State.AWAITING_ENDS: (ExecutionMode.MICRO_BATCH, Extent.ENDLESS),
    State.READING_TO_END: (ExecutionMode.MICRO_BATCH, Extent.AVAILABLE),
    State.CATCHING_UP: (ExecutionMode.MICRO_BATCH, Extent.AVAILABLE),
    State.REAL_TIME: (ExecutionMode.REAL_TIME, Extent.ENDLESS),
    State.ENDING: (ExecutionMode.MICRO_BATCH, Extent.ONE_BATCH),
    State.COMMITTING: (ExecutionMode.MICRO_BATCH, Extent.AVAILABLE),
}
