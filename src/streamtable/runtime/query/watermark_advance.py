"""Watermark of a running query without new records: processing time and idle partitions."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from math import gcd

from pyspark.sql.streaming.query import StreamingQuery

from streamtable.core.settings.execution import ExecutionMode
from streamtable.core.settings.table import IDLE_TIMEOUT
from streamtable.jvm.streaming.running_queries import advance_watermark
from streamtable.operators.context import LoweringContext
from streamtable.plan.node import Node
from streamtable.plan.rules.watermarks import processing_windows
from streamtable.plan.window.window import Window, WindowKind
from streamtable.runtime.query.idle_splits import IdleSplits

#: Maximum clock skew between machines, in milliseconds. Processing-time windows fire with this
#: delay, so that all of their rows have arrived.
_SKEW_MS = 100
#: Time zones differ by whole minutes.
_ZONE_MS = 60_000
#: Interval for session windows, in milliseconds: they can end at any time.
_SESSION_MS = 1_000


def tick(windows: Iterable[Window]) -> int:
    """Return the interval, in ms, at which processing-time windows may end; 0 for no windows."""
    found = 0
    for window in windows:
        if window.kind is WindowKind.SESSION:
            found = gcd(found, _SESSION_MS)
        else:
            found = gcd(found, window.size, window.step, window.offset, _ZONE_MS)
    return found


@dataclass
class WatermarkAdvance:
    """Watermark of one query, advanced while the query runs.

    Attributes:
        context: the query's lowering context.
        plan: the query's plan.
    """

    context: LoweringContext
    plan: Node
    _idle: IdleSplits = field(init=False)
    _tick: int = field(init=False)
    _batch: int | None = None
    _batch_ended: float = 0.0
    _read_to: float = 0.0
    _passed: int = 0

    def __post_init__(self) -> None:
        self._batch_ended = self._read_to = time.monotonic()
        self._idle = IdleSplits(self._read_to)
        self._tick = tick(processing_windows(self.plan))

    def advance(
        self, query: StreamingQuery, mode: ExecutionMode, newest_batch: Callable[[], int | None]
    ) -> None:
        """Advance the watermark of a running query if the clock or an idle partition requires it.

        The new watermark applies from the next batch on. In real-time mode, the next batch begins
        at the next checkpoint.

        Args:
            query: the query.
            mode: the query's current mode.
            newest_batch: returns the number of the last batch that has ended.
        """
        if self._tick:
            self._follow_clock(query)
            return
        default = self.context.settings[IDLE_TIMEOUT]
        timeouts = self.context.watermarks.idle_timeouts(self.context.query, default)
        if any(timeouts.values()):
            self._advance_past_idle(query, mode, newest_batch(), timeouts)

    def _follow_clock(self, query: StreamingQuery) -> None:
        """Advance the watermark to the clock, so that processing-time windows fire."""
        now = round(time.time() * 1_000) - _SKEW_MS
        passed = now - now % self._tick - 1
        if passed > self._passed and advance_watermark(self.context.bridge, query, passed):
            self._passed = passed

    def _advance_past_idle(
        self,
        query: StreamingQuery,
        mode: ExecutionMode,
        batch: int | None,
        timeouts: Mapping[str, float],
    ) -> None:
        scans = self.context.watermarks.activity(self.context.query)
        if not scans:
            return
        now = time.monotonic()
        self._note(query, mode, batch, now)
        self._idle.record(scans, now)
        watermark = self._idle.watermark(scans, timeouts, self._read_to)
        if watermark is not None:
            advance_watermark(self.context.bridge, query, watermark)

    def _note(
        self, query: StreamingQuery, mode: ExecutionMode, batch: int | None, now: float
    ) -> None:
        """Update the time up to which all records have been read.

        A micro-batch reads the records that exist at its start. It starts when the previous batch
        has ended, or later. A batch of real-time mode reads records until it ends.
        """
        status = query.status
        if batch != self._batch:
            self._batch = batch
            self._read_to = now if mode is ExecutionMode.REAL_TIME else self._batch_ended
            self._batch_ended = now
        if not status["isTriggerActive"] and not status["isDataAvailable"]:
            self._read_to = now
