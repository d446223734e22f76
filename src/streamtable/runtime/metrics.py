"""What a job does, in numbers: Flink's names for sources and sinks, Spark's facts of queries.

Counts rise when a task has ended: at the end of a micro-batch, and at each checkpoint of real-time
mode. Rates are averages over the last minute, as Flink's are.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

#: Over how many seconds a rate is an average.
_RATE_S = 60.0

#: Counter of a task -> metric of a table.
_SOURCE = {"recordsIn": "numRecordsIn", "bytesIn": "numBytesIn"}
_SINK = {"recordsOut": "numRecordsOut", "bytesOut": "numBytesOut"}
_ERRORS = ("parseErrors", "fieldErrors", "nullKeys", "emptyRecords", "deadLetters", "recordsLost")


@dataclass(frozen=True)
class TableCounts:
    """One table of a job at one moment.

    Attributes:
        counts: by the names of the tasks' counters.
        newest: time of the newest record that was read, and when it was read; epoch ms.
        sending: when an epoch was last written, in epoch ms, and how long a record took, in ms.
        reads: whether the job reads the table; it may write it, too.
        writes: whether the job writes it.
        pending: records in its topics that the job has not read; None where it is not known yet.
    """

    counts: Mapping[str, int]
    newest: tuple[int, int] | None = None
    sending: tuple[int, int] | None = None
    reads: bool = False
    writes: bool = False
    pending: int | None = None


@dataclass(frozen=True)
class QueryState:
    """One query at one moment, as its last batch has left it.

    Attributes:
        batch: its number.
        finished: when it was committed; epoch seconds.
        watermark: ISO 8601; None where the query has none.
        partitions: "topic-partition" -> how far it has come in event time, in epoch ms.
        operators: for each operator with state its name, rows and bytes; rows are None where
            nobody counts them.
    """

    batch: int
    finished: float
    watermark: str | None = None
    partitions: Mapping[str, int] = field(default_factory=dict)
    operators: tuple[tuple[str, int | None, int], ...] = ()


@dataclass
class JobMetrics:
    """The numbers of one job. `values` may be called from any thread while the job runs."""

    clock: Callable[[], float] = time.time
    _tables: dict[str, TableCounts] = field(default_factory=dict)
    _queries: dict[str, QueryState] = field(default_factory=dict)
    _samples: deque[tuple[float, dict[str, Mapping[str, int]]]] = field(default_factory=deque)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self, tables: Mapping[str, TableCounts], queries: Mapping[str, QueryState]) -> None:
        """What the job is like now."""
        now = self.clock()
        with self._lock:
            self._tables, self._queries = dict(tables), dict(queries)
            self._samples.append((now, {name: t.counts for name, t in tables.items()}))
            # One sample older than the window stays, for a rate over the whole of it.
            while len(self._samples) > 2 and self._samples[1][0] <= now - _RATE_S:
                self._samples.popleft()

    def values(self) -> dict[str, dict[str, dict[str, Any]]]:
        """All metrics now: `{"tables": {table: {...}}, "queries": {query: {...}}}`.

        The names within are those of docs/reference/metrics.md, their values numbers or, where
        one is not known yet, None. Three are of other shapes: `watermark` is an ISO 8601 text,
        `partitionWatermark` is `{"topic-partition": epoch ms}`, and `operators` a list of
        `{"name": ..., "stateRows": ..., "stateBytes": ...}`, one per operator with state.
        """
        with self._lock:
            tables = {name: self._table(name, table) for name, table in self._tables.items()}
            queries = {name: _query(state) for name, state in self._queries.items()}
        return {"tables": tables, "queries": queries}

    def _table(self, name: str, table: TableCounts) -> dict[str, Any]:
        found: dict[str, Any] = {}
        names = {**(_SOURCE if table.reads else {}), **(_SINK if table.writes else {})}
        for counter, metric in names.items():
            found[metric] = table.counts.get(counter, 0)
            found[f"{metric}PerSecond"] = self._rate(name, counter)
        if table.reads:
            found["pendingRecords"] = table.pending
            if table.newest is not None:
                # A record is emitted as soon as it is fetched and decoded, in one go.
                lag = table.newest[1] - table.newest[0]
                found["currentFetchEventTimeLag"] = found["currentEmitEventTimeLag"] = lag
                found["sourceIdleTime"] = max(0, round(self.clock() * 1_000) - table.newest[1])
        if table.writes and table.sending is not None:
            found["currentSendTime"] = table.sending[1]
        found["numErrors"] = sum(table.counts.get(name, 0) for name in _ERRORS)
        others = set(table.counts) - set(_SOURCE) - set(_SINK)
        return {**found, **{other: table.counts[other] for other in sorted(others)}}

    def _rate(self, table: str, counter: str) -> float:
        """A count's rise per second over the window; 0 before there are two samples."""
        (begun, first), (ended, last) = self._samples[0], self._samples[-1]
        if ended <= begun:
            return 0.0
        rise = last[table].get(counter, 0) - first.get(table, {}).get(counter, 0)
        return rise / (ended - begun)


def _query(state: QueryState) -> dict[str, Any]:
    return {
        "lastCheckpoint": state.finished,
        "lastBatch": state.batch,
        "watermark": state.watermark,
        "partitionWatermark": dict(state.partitions),
        "stateRows": _sum(rows for _, rows, _ in state.operators),
        "stateBytes": sum(size for _, _, size in state.operators),
        "operators": [
            {"name": name, "stateRows": rows, "stateBytes": size}
            for name, rows, size in state.operators
        ],
    }


def _sum(counts: Iterable[int | None]) -> int | None:
    """None where one of them is not known."""
    total = 0
    for count in counts:
        if count is None:
            return None
        total += count
    return total
