"""Time that moves on while no records do: what a running query's watermark is raised by."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from math import gcd

from pyspark.sql.streaming.query import StreamingQuery

from streamtable.core.settings import IDLE_TIMEOUT, ExecutionMode
from streamtable.operators.context import LoweringContext
from streamtable.plan.nodes import Node
from streamtable.plan.time_attributes import processing_windows
from streamtable.plan.time_nodes import Window, WindowKind
from streamtable.runtime.idleness import IdlePartitions

#: By how much a clock of another machine may be behind this one's, in milliseconds: so much later
#: windows of processing time fire, so that none of their rows is still to come.
_SKEW_MS = 100
#: Zones differ by whole minutes.
_ZONE_MS = 60_000
#: How often sessions are looked at: their ends lie anywhere.
_SESSION_MS = 1_000


def tick(windows: Iterable[Window]) -> int:
    """Milliseconds between moments at which windows of processing time may end; 0 for none."""
    found = 0
    for window in windows:
        if window.kind is WindowKind.SESSION:
            found = gcd(found, _SESSION_MS)
        else:
            found = gcd(found, window.step, window.offset, _ZONE_MS)
    return found


@dataclass
class MovingTime:
    """The watermark of one query, looked after while it runs.

    Attributes:
        context: the query's.
        plan: what it does.
    """

    context: LoweringContext
    plan: Node
    _idle: IdlePartitions | None = field(init=False)
    _tick: int = field(init=False)
    _batch: int | None = None
    _batch_ended: float = 0.0
    _read_to: float = 0.0
    _passed: int = 0

    def __post_init__(self) -> None:
        timeout: timedelta = self.context.settings[IDLE_TIMEOUT]
        self._batch_ended = self._read_to = time.monotonic()
        idle = IdlePartitions(timeout.total_seconds(), self._read_to)
        self._idle = idle if timeout > timedelta(0) else None
        self._tick = tick(processing_windows(self.plan))

    def look(
        self, query: StreamingQuery, mode: ExecutionMode, newest_batch: Callable[[], int | None]
    ) -> None:
        """Raises the watermark of a running query where something else than its rows says so.

        It counts from the next batch on, which real-time mode begins at its next checkpoint.

        Args:
            query: the query.
            mode: what it runs in.
            newest_batch: tells which of its batches has ended last.
        """
        if self._tick:
            self._follow_clock(query)
        elif self._idle is not None:
            self._leave_idle_out(query, mode, newest_batch(), self._idle)

    def _follow_clock(self, query: StreamingQuery) -> None:
        """Lets windows of processing time that are over fire."""
        now = round(time.time() * 1_000) - _SKEW_MS
        passed = now - now % self._tick - 1
        if passed > self._passed and self.context.bridge.advance_watermark(query, passed):
            self._passed = passed

    def _leave_idle_out(
        self,
        query: StreamingQuery,
        mode: ExecutionMode,
        batch: int | None,
        idle: IdlePartitions,
    ) -> None:
        scans = self.context.watermarks.heard(self.context.query)
        if not scans:
            return
        now = time.monotonic()
        self._note(query, mode, batch, now)
        idle.hear(scans, now)
        watermark = idle.watermark(scans, self._read_to)
        if watermark is not None:
            self.context.bridge.advance_watermark(query, watermark)

    def _note(
        self, query: StreamingQuery, mode: ExecutionMode, batch: int | None, now: float
    ) -> None:
        """Up to when all records have been read.

        A micro-batch reads what is there when it begins, which is when the one before has ended or
        later; a batch of real-time mode reads until it ends.
        """
        status = query.status
        if batch != self._batch:
            self._batch = batch
            self._read_to = now if mode is ExecutionMode.REAL_TIME else self._batch_ended
            self._batch_ended = now
        if not status["isTriggerActive"] and not status["isDataAvailable"]:
            self._read_to = now
