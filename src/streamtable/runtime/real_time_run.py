"""What a query is given while it is in real-time mode, so that its rows wait little.

Short first checkpoints, whose code is not compiled yet; plans made for practice; and tasks that
send what they have less often while nothing comes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from pyspark.sql.streaming.query import StreamingQuery

from streamtable.core.settings import FIRST_CHECKPOINTS, PRACTICE_PLANS, QUIET_BUFFER_TIMEOUT
from streamtable.operators.context import LoweringContext
from streamtable.plan.nodes import Sink
from streamtable.runtime.modes import checkpoint_interval
from streamtable.runtime.preflight import source_tables

_MS = timedelta(milliseconds=1)


@dataclass
class RealTimeRun:
    """One query from each start in real-time mode to the stop after it.

    Attributes:
        context: the query's.
        plan: what it does.
        directory: of its checkpoint.
    """

    context: LoweringContext
    plan: Sink
    directory: str
    _practises: bool = False
    _first_left: int = 0

    @property
    def settled(self) -> bool:
        """Whether batches last as long as was asked for."""
        return not self._first_left

    def begin(self) -> None:
        """Before the query starts."""
        context = self.context
        self._practises = True
        self._first_left = context.settings[FIRST_CHECKPOINTS]
        sources = [context.counters_of(t.table) for t in source_tables([self.plan])]
        wait = context.settings[QUIET_BUFFER_TIMEOUT] // _MS
        context.bridge.begin_buffer_timeout(self.directory, sources, wait)

    def end(self) -> None:
        """After it has stopped; nothing happens where it was not in real-time mode."""
        self._practises, self._first_left = False, 0
        self.context.bridge.end_buffer_timeout(self.directory)

    def look(self, query: StreamingQuery, ended_batches: Callable[[], int]) -> None:
        """Does what is due in a query that runs.

        Args:
            query: the query.
            ended_batches: tells how many of its batches have ended since its start.
        """
        bridge, settings = self.context.bridge, self.context.settings
        # Once Spark has planned, and run, a batch itself.
        if self._practises and ended_batches():
            bridge.practise_plans(query, settings[PRACTICE_PLANS])
            self._practises = False
        if self._first_left and ended_batches() >= self._first_left:
            bridge.set_real_time_interval(query, checkpoint_interval(settings) // _MS)
            self._first_left = 0
