"""Looks after running queries: failures, the end, what is left out, groups, metrics."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from pyspark.sql.streaming.listener import StreamingQueryProgress

from streamtable.connectors.kafka.bounds import topics_of
from streamtable.connectors.kafka.table import KafkaTable
from streamtable.core.errors import StreamtableError
from streamtable.jvm.bridge import Bridge
from streamtable.jvm.counters import Counters
from streamtable.jvm.kafka_admin import KafkaAdmin
from streamtable.operators.sink import sink_table
from streamtable.plan.nodes import Sink
from streamtable.runtime.counts import left_out
from streamtable.runtime.group_offsets import GroupCommits, reached
from streamtable.runtime.growth import Growth
from streamtable.runtime.lag import positions
from streamtable.runtime.metrics import JobMetrics, QueryState, TableCounts
from streamtable.runtime.preflight import Notice, source_tables
from streamtable.runtime.running import RunningQuery

#: How often the queries are looked at, in seconds.
_POLL_S = 0.2

#: The same once all have settled: looks would be a third of what a quiet job takes of the CPU.
_SETTLED_POLL_S = 1.0

#: How often the ends of the topics are asked for, in seconds.
_PENDING_S = 5.0

#: The same once all have settled: a question is a login, and how far the queries have read is known
#: as of their last checkpoint only.
_SETTLED_PENDING_S = 15.0

#: How long that may take, in milliseconds: a broker that is away must not hold the job up.
_PENDING_TIMEOUT_MS = 2_000


@dataclass
class Watch:
    """One job while it runs.

    Attributes:
        queries: the job's.
        watermarks: `jvm.watermarks.Watermarks.of_partitions`.
        counts_rows: whether Spark counts the rows of state; it tells of 0 where it does not.
        after: called after every look, in the job's thread.
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

    def __post_init__(self) -> None:
        self._groups = GroupCommits(self.plans, self.bridge, self.notice)
        self._growth = Growth(self.plans, self.notice)
        self._sources = {t.table: t for t in source_tables(self.plans.values())}
        self._sinks = {sink_table(plan).table for plan in self.plans.values()}
        self._told: set[str] = set()
        self._pending: dict[str, int] = {}
        self._asked = float("-inf")
        self._newest: dict[str, StreamingQueryProgress] = {}

    def until_end(self, stop: threading.Event) -> None:
        """Returns when every query has ended or a stop was asked for; raises what ended one."""
        while not stop.wait(self._pause()):
            going_on = [query.look() for query in self.queries]
            self.look()
            if not any(going_on):
                return

    @property
    def _settled(self) -> bool:
        return all(query.settled for query in self.queries)

    def _pause(self) -> float:
        """Seconds until the next look."""
        return _SETTLED_POLL_S if self._settled else _POLL_S

    def look(self) -> None:
        """Takes in what the queries have done, and passes it on."""
        progress = self._progress()
        self._groups.see(progress)
        self._growth.see(progress)
        counts = self._counts()
        for line in left_out(counts):
            reason = line.split(" records ", 1)[1]
            if reason not in self._told:
                self._told.add(reason)
                self.notice(line)
        self._ask_pending(progress)
        states = {name: self._state(name, found) for name, found in progress.items()}
        self.metrics.take(self._tables(counts), states)
        self.after()

    def close(self) -> None:
        """A last look, once the queries have stopped."""
        self._asked = float("-inf")
        self.look()
        self._groups.close()
        for line in left_out(self._counts()):
            self.notice(line)

    def _progress(self) -> dict[str, StreamingQueryProgress]:
        """The newest of each query, from before its last change of mode where that is so."""
        for query in self.queries:
            newest = query.progress
            if newest is not None:
                self._newest[query.name] = newest
        return dict(self._newest)

    def _counts(self) -> dict[str, dict[str, int]]:
        """What was counted for each table: one question to the JVM each."""
        return {name: counters.values() for name, counters in self.counters.items()}

    def _tables(self, counts: Mapping[str, Mapping[str, int]]) -> dict[str, TableCounts]:
        return {
            name: TableCounts(
                counts=counts[name],
                newest=counters.newest.value(),
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
        sources = [source for found in progress.values() for source in found.sources]
        position = positions(s.endOffset for s in sources)
        for name, table in self._sources.items():
            offsets = reached(table, position)
            if offsets:
                self._ask_pending_of(name, table, offsets)

    def _ask_pending_of(
        self, name: str, table: KafkaTable, offsets: Mapping[tuple[str, int], int]
    ) -> None:
        admin = KafkaAdmin(self.bridge, table.properties, _PENDING_TIMEOUT_MS)
        try:
            ends = admin.end_offsets(topics_of(table, admin))
        except StreamtableError:
            self._pending.pop(name, None)  # not known while the brokers do not answer
        else:
            # What a scan began after is not pending: a new partition is read from its beginning.
            self._pending[name] = sum(
                max(0, end - offsets.get(partition, 0)) for partition, end in ends.items()
            )

    def _state(self, query: str, progress: StreamingQueryProgress) -> QueryState:
        begun = datetime.fromisoformat(progress.timestamp.replace("Z", "+00:00")).timestamp()
        return QueryState(
            batch=progress.batchId,
            finished=begun + progress.durationMs.get("triggerExecution", 0) / 1_000,
            watermark=_watermark(progress.eventTime.get("watermark")),
            partitions=self.watermarks(query),
            operators=tuple(
                (
                    str(operator.operatorName),
                    int(operator.numRowsTotal) if self.counts_rows else None,
                    int(operator.memoryUsedBytes),
                )
                for operator in progress.stateOperators
            ),
        )


def _watermark(text: str | None) -> str | None:
    """Spark's, but None behind the end of the input, which no date of four digits names."""
    return None if text is None or text.startswith("+") else text
