"""Latency tuning of a query while it is in real-time mode.

The measures are: short first checkpoints, while their code is not compiled yet; planner warm-up;
and a longer buffer timeout in tasks while no records arrive.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from pyspark.sql.streaming.query import StreamingQuery

from streamtable.core.settings.execution import (
    FIRST_CHECKPOINTS,
    PRACTICE_PLANS,
    QUIET_BUFFER_TIMEOUT,
)
from streamtable.core.settings.session import checkpoint_interval
from streamtable.jvm.streaming.running_queries import (
    begin_buffer_timeout,
    end_buffer_timeout,
    set_real_time_interval,
    warm_up_planner,
)
from streamtable.operators.context import LoweringContext
from streamtable.plan.sink.sink import Sink
from streamtable.runtime.endpoints import sources_of

_MS = timedelta(milliseconds=1)


@dataclass
class RealTimeRun:
    """Latency tuning of one query, from each start in real-time mode to the next stop.

    Attributes:
        context: the query's lowering context.
        plan: the query's plan.
        directory: the query's checkpoint directory.
    """

    context: LoweringContext
    plan: Sink
    directory: str
    _warm_up_due: bool = False
    _first_left: int = 0

    @property
    def settled(self) -> bool:
        """Whether batches have reached the configured checkpoint interval."""
        return not self._first_left

    def begin(self) -> None:
        """Prepare the tuning. Call this before the query starts."""
        context = self.context
        self._warm_up_due = True
        self._first_left = context.settings[FIRST_CHECKPOINTS]
        sources = [context.counters_of(s.table) for s in sources_of([self.plan])]
        wait = context.settings[QUIET_BUFFER_TIMEOUT] // _MS
        begin_buffer_timeout(context.bridge, self.directory, sources, wait)

    def end(self) -> None:
        """End the tuning, if it has begun. Call this after the query has stopped."""
        self._warm_up_due, self._first_left = False, 0
        end_buffer_timeout(self.context.bridge, self.directory)

    def update(self, query: StreamingQuery, ended_batches: Callable[[], int]) -> None:
        """Start the planner warm-up, and set the checkpoint interval, when they are due.

        Args:
            query: the running query.
            ended_batches: returns the number of batches that have ended since the start of the
                query.
        """
        bridge, settings = self.context.bridge, self.context.settings
        # Wait until Spark itself has planned and run a batch.
        if self._warm_up_due and ended_batches():
            warm_up_planner(bridge, query, settings[PRACTICE_PLANS])
            self._warm_up_due = False
        if self._first_left and ended_batches() >= self._first_left:
            set_real_time_interval(bridge, query, checkpoint_interval(settings) // _MS)
            self._first_left = 0
