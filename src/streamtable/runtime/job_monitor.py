"""Job monitor: failures and ends of queries, omitted records, consumer groups, metrics."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql.streaming.listener import StateOperatorProgress, StreamingQueryProgress

from streamtable.connector_api.preflight import Notice
from streamtable.connector_api.reading import SourceObserver
from streamtable.connector_api.source import Source
from streamtable.core.errors import StreamtableError
from streamtable.core.settings.execution import ExecutionMode
from streamtable.jvm.bridge import Bridge
from streamtable.jvm.streaming.counters import Counters
from streamtable.jvm.streaming.progress import batch_times
from streamtable.plan.sink.sink import Sink
from streamtable.runtime.checkpoint.identities import IdentityMonitor
from streamtable.runtime.endpoints import sources_of
from streamtable.runtime.metrics.metrics import (
    JobMetrics,
    OperatorState,
    QueryState,
    TableCounts,
)
from streamtable.runtime.metrics.omitted_records import omitted_records
from streamtable.runtime.query.running import RunningQuery

#: Poll interval of the queries, in seconds.
_POLL_S = 0.2

#: Poll interval once all queries have settled, in seconds. With the shorter interval, polls would
#: use a third of the CPU time of a job without input.
_SETTLED_POLL_S = 1.0

#: Interval of requests for the end offsets of the topics, in seconds.
_PENDING_S = 5.0

#: The same interval once all queries have settled, in seconds: every request is a login, and the
#: positions of the queries are known only as of their last checkpoint.
_SETTLED_PENDING_S = 15.0

#: Timeout of such a request, in milliseconds: an unreachable broker must not block the job.
_PENDING_TIMEOUT_MS = 2_000


#: Watermark that Spark reports before the first rows; no watermark can be earlier.
_NO_WATERMARK = "1970-01-01T00:00:00.000Z"


@dataclass
class JobMonitor:
    """Monitor of a running job.

    Attributes:
        queries: the job's.
        watermarks: `jvm.streaming.watermarks.Watermarks.of_splits`.
        counts_rows: whether Spark counts the rows of state; otherwise Spark reports 0 rows.
        identities: ids of the sources.
        after: called after every poll, in the job's thread.
    """

    plans: Mapping[str, Sink]
    queries: Sequence[RunningQuery]
    bridge: Bridge
    counters: Mapping[str, Counters]
    notice: Notice
    metrics: JobMetrics
    watermarks: Callable[[str], Mapping[str, int]]
    after: Callable[[], None]
    counts_rows: bool
    identities: IdentityMonitor

    def __post_init__(self) -> None:
        self._observers = self._observers_of_sources()
        self._sources = {s.table: s for s in sources_of(self.plans.values())}
        self._sinks = {plan.table.name for plan in self.plans.values()}
        self._reported: set[str] = set()
        self._pending: dict[str, int] = {}
        self._asked = float("-inf")
        self._newest: dict[str, StreamingQueryProgress] = {}

    def until_end(self, stop: threading.Event) -> None:
        """Wait until all queries have ended or a stop is requested; raise the error of a query."""
        while not self._pause(stop):
            try:
                running = [query.poll() for query in self.queries]
            except StreamtableError:
                # If unread records were deleted with their topic, that is the cause of the error.
                self.identities.check_now()
                raise
            self.identities.check()
            self.poll()
            if not any(running):
                self.identities.check_now()
                return

    @property
    def _settled(self) -> bool:
        return all(query.settled for query in self.queries)

    def _pause(self, stop: threading.Event) -> bool:
        """Wait until the next poll, which is due at once when a query ends.

        Returns:
            Whether a stop is requested.
        """
        if self._settled:
            return stop.wait(_SETTLED_POLL_S)
        running = next((query for query in self.queries if query.state.runs), None)
        if running is not None:
            running.wait_for_end(stop, _POLL_S)
        return stop.is_set()

    def poll(self) -> None:
        """Collect the progress of the queries, and update observers, notices and metrics."""
        progress = self._progress()
        newest = {query.name: progress.get(query.name) for query in self.queries}
        finished = {query.name for query in self.queries if query.finished}
        for observer in self._observers:
            observer.on_progress(newest, finished)
        counts = self._counts()
        for found in omitted_records(counts):
            if found.reason not in self._reported:
                self._reported.add(found.reason)
                self.notice(str(found))
        self._ask_pending(progress)
        states = {
            insert: self._state(query.name, progress[query.name], query.state.mode.value)
            for query in self.queries
            if query.name in progress
            for insert in query.query.inserts
        }
        self.metrics.take(self._tables(counts), states)
        self.after()

    def close(self) -> None:
        """Poll for the last time, after the queries have stopped."""
        self._asked = float("-inf")
        try:
            self.poll()
        finally:
            for observer in self._observers:
                observer.close()
        for found in omitted_records(self._counts()):
            self.notice(str(found))

    def _progress(self) -> dict[str, StreamingQueryProgress]:
        """Return the newest progress of each query, possibly of its previous mode."""
        for query in self.queries:
            newest = query.progress
            if newest is not None:
                self._newest[query.name] = newest
        return dict(self._newest)

    def _counts(self) -> dict[str, dict[str, int]]:
        """Return the counters of each table, with one call of the JVM per table."""
        return {name: counters.values() for name, counters in self.counters.items()}

    def _tables(self, counts: Mapping[str, Mapping[str, int]]) -> dict[str, TableCounts]:
        return {
            name: TableCounts(
                counts=counts[name],
                last_read=counters.last_read.value(),
                sending=counters.sending.value(),
                reads=name in self._sources,
                writes=name in self._sinks,
                pending=self._pending.get(name),
            )
            for name, counters in self.counters.items()
        }

    def _ask_pending(self, progress: Mapping[str, StreamingQueryProgress]) -> None:
        pause = _SETTLED_PENDING_S if self._settled else _PENDING_S
        if time.monotonic() < self._asked + pause or not progress:
            return
        self._asked = time.monotonic()
        reached = [s.endOffset for found in progress.values() for s in found.sources]
        for name, source in self._sources.items():
            pending = self._pending_of(source, reached)
            if pending is None:
                self._pending.pop(name, None)
            else:
                self._pending[name] = pending

    def _pending_of(self, source: Source, reached: Sequence[str | None]) -> int | None:
        """Return the number of unread records of a source; None while the number is not known."""
        positions = source.positions(reached, self.bridge)
        if not positions:
            return None
        try:
            ends = source.ends_of(None, self.bridge, _PENDING_TIMEOUT_MS)
        except StreamtableError:
            return None
        # Records before the start of a scan are not pending. A new split is read from its start.
        if ends is None:
            return None
        return sum(max(0, end - positions.get(split, 0)) for split, end in ends.items())

    def _observers_of_sources(self) -> list[SourceObserver]:
        """Return the observers that the sources of the job provide."""
        read = {query.name: sources_of([query.plan]) for query in self.queries}
        sources = sources_of(query.plan for query in self.queries)
        found = (s.observe(read, self.bridge, self._notice_once) for s in sources)
        return [observer for observer in found if observer is not None]

    def _notice_once(self, line: str) -> None:
        """Report a line once: queries that read the same source report the same lines."""
        if line not in self._reported:
            self._reported.add(line)
            self.notice(line)

    def _state(self, query: str, progress: StreamingQueryProgress, mode: str) -> QueryState:
        finished, took = batch_times(progress)
        return QueryState(
            batch=progress.batchId,
            finished=finished,
            watermark=_watermark(progress.eventTime.get("watermark")),
            partitions=self.watermarks(query),
            operators=tuple(
                OperatorState(
                    str(operator.operatorName),
                    int(operator.numRowsTotal) if self.counts_rows else None,
                    int(operator.memoryUsedBytes),
                    _time_of(operator) if mode == ExecutionMode.MICRO_BATCH.value else None,
                )
                for operator in progress.stateOperators
            ),
            milliseconds=took,
            mode=mode,
        )


def _time_of(operator: StateOperatorProgress) -> int:
    """Return the time of an operator's tasks, in milliseconds."""
    return int(operator.allUpdatesTimeMs + operator.allRemovalsTimeMs + operator.commitTimeMs)


def _watermark(text: str | None) -> str | None:
    """Return Spark's watermark; None before the first, and after the end of the input.

    At the end of the input, Spark's watermark has a five-digit year.
    """
    return None if text is None or text.startswith("+") or text == _NO_WATERMARK else text
