"""Latency tuning of a query while it is in real-time mode.

The measures are short first checkpoints, while their code is not compiled yet, and planner warm-up.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from pyspark.sql.streaming.query import StreamingQuery

from streamtable.core.settings.execution import FIRST_CHECKPOINTS, PRACTICE_PLANS
from streamtable.core.settings.session import checkpoint_interval
from streamtable.jvm.streaming.running_queries import set_real_time_interval, warm_up_planner
from streamtable.operators.context import LoweringContext

_MS = timedelta(milliseconds=1)


@dataclass
class RealTimeRun:
    """Latency tuning of one query, from each start in real-time mode to the next stop.

    Attributes:
        context: the query's lowering context.
    """

    context: LoweringContext
    _warm_up_due: bool = False
    _first_left: int = 0

    @property
    def settled(self) -> bool:
        """Whether batches have reached the configured checkpoint interval."""
        return not self._first_left

    def begin(self) -> None:
        """Prepare the tuning. Call this before the query starts."""
        self._warm_up_due = True
        self._first_left = self.context.settings[FIRST_CHECKPOINTS]

    def end(self) -> None:
        """End the tuning, if it has begun. Call this after the query has stopped."""
        self._warm_up_due, self._first_left = False, 0

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
