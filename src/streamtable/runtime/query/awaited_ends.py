"""Ends of bounded scans that their sources have not reached yet, such as in open transactions."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping

from streamtable.connector_api.source import Split
from streamtable.core.errors import StreamtableError
from streamtable.operators.context import LoweringContext
from streamtable.plan.sink.sink import Root
from streamtable.runtime.endpoints import sources_of
from streamtable.runtime.metrics.lag import ends_ahead
from streamtable.runtime.query.query_run import QueryRun

#: Interval of requests for the ends of scans, in seconds.
_ASK_S = 1.0


class AwaitedEnds:
    """The ends of a query's scans.

    Args:
        plan: the plan of the query.
        context: its lowering context; `source_of` returns sources with fixed ends.
    """

    def __init__(self, plan: Root, context: LoweringContext) -> None:
        self._plan = plan
        self._context = context
        self._asked = -math.inf
        self._ahead: Mapping[Split, int] = {}

    def are_ahead(self) -> bool:
        """Whether the query has to wait for an end.

        Raises:
            StreamtableError: an error of a source.
        """
        context = self._context
        if context.patient:
            sources = sources_of([self._plan], context.source_of)
            self._ahead = ends_ahead(sources, context.bridge)
        return bool(self._ahead)

    def are_read(self, run: QueryRun) -> bool:
        """Whether a run has read the ends that were ahead, and has no running batch."""
        return run.has_read(self._ahead, self._plan, self._context.bridge) and run.is_idle()

    def are_there(self) -> bool:
        """Whether the sources have reached all ends; they are asked once a second."""
        if time.monotonic() < self._asked + _ASK_S:
            return False
        self._asked = time.monotonic()
        try:
            return not self.are_ahead()
        except StreamtableError:
            return False  # the query itself fails if the source stays out of reach
