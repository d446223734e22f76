"""Rolled-back rows of a sink that the query still has to write again."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from streamtable.connector_api.source import Split
from streamtable.jvm.bridge import Bridge
from streamtable.plan.sink.sink import Sink
from streamtable.runtime.metrics.lag import all_ends
from streamtable.runtime.query.modes import Extent
from streamtable.runtime.query.query_run import QueryRun
from streamtable.runtime.query.query_state import State

_POLL_S = 0.05


@dataclass
class PendingRewrites:
    """Rolled-back rows that one query still has to write again.

    The run before the rollback had read at most up to the ends of the sources at the time of the
    rollback.
    """

    plan: Sink
    bridge: Bridge
    _ends: Mapping[Split, int] = field(default_factory=dict, init=False)

    @property
    def is_open(self) -> bool:
        """Whether some rows of the sink are still older than before the start."""
        return bool(self._ends)

    def begin(self) -> None:
        """Store the current ends of the sources. Call this directly after the rollback."""
        self._ends = all_ends(self.plan, self.bridge)

    def close(self) -> None:
        """Discard the debt."""
        self._ends = {}

    def update(self, run: QueryRun, state: State, *, ended: bool) -> None:
        """Close the debt if the query has reached the stored ends of the sources.

        Args:
            run: the current run, which has begun after the rollback.
            state: the query's state.
            ended: whether the run has ended by itself.
        """
        if not self._ends:
            return
        if ended and state.extent is Extent.AVAILABLE:
            self._ends = {}
            return
        if run.has_read(self._ends, self.plan, self.bridge):
            self._ends = {}

    def settle(self, run: QueryRun, state: State, deadline: float) -> None:
        """Wait until the debt is closed, the run has ended, or the deadline has passed.

        The deadline is a time of `time.monotonic`.
        """
        ended = False
        while self._ends and not ended and time.monotonic() < deadline:
            ended = run.has_ended()
            self.update(run, state, ended=ended)
            if self._ends:
                time.sleep(_POLL_S)
