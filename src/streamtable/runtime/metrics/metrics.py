"""Metrics of a job: Flink's metric names for sources and sinks, Spark's progress for queries.

Counters are updated when a task ends: at the end of a micro-batch, and at each checkpoint of
real-time mode. Rates are averages over the last minute, as in Flink.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

#: Window of a rate, in seconds.
_RATE_S = 60.0

#: Counter of a task -> metric of a table.
_SOURCE = {"recordsIn": "numRecordsIn", "bytesIn": "numBytesIn"}
_SINK = {"recordsOut": "numRecordsOut", "bytesOut": "numBytesOut"}
_ERRORS = ("parseErrors", "fieldErrors", "nullKeys", "emptyRecords", "deadLetters", "recordsLost")


@dataclass(frozen=True)
class TableCounts:
    """Counts of one table of a job at one moment.

    Attributes:
        counts: by the names of the tasks' counters.
        last_read: time of the last read of a record, and the timestamp of this record; epoch ms.
        sending: time of the last write of an epoch, in epoch ms, and the send time of a record, in
            ms.
        reads: whether the job reads the table. The job may also write it.
        writes: whether the job writes the table.
        pending: unread records in the table's topics; None if the number is not known yet.
    """

    counts: Mapping[str, int]
    last_read: tuple[int, int] | None = None
    sending: tuple[int, int] | None = None
    reads: bool = False
    writes: bool = False
    pending: int | None = None


@dataclass(frozen=True)
class OperatorState:
    """State of one stateful operator after a batch.

    Attributes:
        name: Spark's name of the operator.
        rows: rows of its state; None if they are not counted.
        bytes: size of its state.
        milliseconds: time of its tasks in the batch, including the operators that follow in the
            same stage; None in real-time mode, where every task lasts as long as the batch.
    """

    name: str
    rows: int | None
    bytes: int
    milliseconds: int | None = None


@dataclass(frozen=True)
class QueryState:
    """State of one query after its last batch.

    Attributes:
        batch: number of the batch.
        finished: commit time of the batch; epoch seconds.
        watermark: ISO 8601; None if the query has no watermark.
        partitions: "topic-partition" -> watermark of the partition, in epoch ms.
        operators: the stateful operators, in Spark's order.
        milliseconds: duration of the batch; None if it is not known.
        mode: current mode, `micro-batch` or `real-time`.
    """

    batch: int
    finished: float
    watermark: str | None = None
    partitions: Mapping[str, int] = field(default_factory=dict)
    operators: tuple[OperatorState, ...] = ()
    milliseconds: int | None = None
    mode: str | None = None


@dataclass(frozen=True)
class ProofState:
    """The proofs that a job repeats of one query (`run --prove-every`).

    Attributes:
        began: start of the last finished proof, in epoch seconds; None if there is none.
        differences: keys or rows of the sink that differ from the answer.
        undecided: keys or rows that differ, perhaps for another reason than an error.
        failures: number of proofs without a result.
    """

    began: float | None = None
    differences: int | None = None
    undecided: int | None = None
    failures: int = 0

    def failed(self) -> ProofState:
        """Return the state after a proof without a result."""
        return replace(self, failures=self.failures + 1)


@dataclass
class JobMetrics:
    """Metrics of one job. Any thread may call `values` while the job runs.

    Attributes:
        clock: returns the time in epoch seconds.
        timer: returns seconds that only increase, for rates: the clock may be set back.
    """

    clock: Callable[[], float] = time.time
    timer: Callable[[], float] = time.monotonic
    _tables: dict[str, TableCounts] = field(default_factory=dict)
    _queries: dict[str, QueryState] = field(default_factory=dict)
    _proofs: dict[str, ProofState] = field(default_factory=dict)
    _samples: deque[tuple[float, dict[str, Mapping[str, int]]]] = field(default_factory=deque)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self, tables: Mapping[str, TableCounts], queries: Mapping[str, QueryState]) -> None:
        """Store the current counts and states, and a sample for the rates."""
        now = self.timer()
        with self._lock:
            self._tables, self._queries = dict(tables), dict(queries)
            self._samples.append((now, {name: t.counts for name, t in tables.items()}))
            # Keep one sample older than the window, so that the rate covers the whole window.
            while len(self._samples) > 2 and self._samples[1][0] <= now - _RATE_S:
                self._samples.popleft()

    def take_proofs(self, proofs: Mapping[str, ProofState]) -> None:
        """Store the current results of proofs, by query."""
        with self._lock:
            self._proofs = dict(proofs)

    def values(self) -> dict[str, dict[str, dict[str, Any]]]:
        """Return the current metrics: `{"tables": {table: {...}}, "queries": {query: {...}}}`.

        docs/reference/metrics.md lists the names of the metrics. The values are numbers, or None if
        a value is not known yet. Four metrics are not numbers: `mode` and `watermark` are texts,
        `partitionWatermark` is `{"topic-partition": epoch ms}`, and `operators` is a list of
        `{"name": ..., "stateRows": ..., "stateBytes": ..., "stateTime": ...}`, one per stateful
        operator.
        """
        with self._lock:
            tables = {name: self._table(name, table) for name, table in self._tables.items()}
            queries = {
                name: {**_query(state), **self._proof(name)}
                for name, state in self._queries.items()
            }
        return {"tables": tables, "queries": queries}

    def _table(self, name: str, table: TableCounts) -> dict[str, Any]:
        found: dict[str, Any] = {}
        names = {**(_SOURCE if table.reads else {}), **(_SINK if table.writes else {})}
        for counter, metric in names.items():
            found[metric] = table.counts.get(counter, 0)
            found[f"{metric}PerSecond"] = self._rate(name, counter)
        if table.reads:
            found["pendingRecords"] = table.pending
            if table.last_read is not None:
                read, timestamp = table.last_read
                # The source emits a record in the same step in which it fetches and decodes it.
                lag = read - timestamp
                found["currentFetchEventTimeLag"] = found["currentEmitEventTimeLag"] = lag
                found["sourceIdleTime"] = max(0, round(self.clock() * 1_000) - read)
        if table.writes and table.sending is not None:
            found["currentSendTime"] = table.sending[1]
        found["numErrors"] = sum(table.counts.get(name, 0) for name in _ERRORS)
        others = set(table.counts) - set(_SOURCE) - set(_SINK)
        return {**found, **{other: table.counts[other] for other in sorted(others)}}

    def _proof(self, query: str) -> dict[str, Any]:
        proof = self._proofs.get(query)
        if proof is None:
            return {}
        found: dict[str, Any] = {"proofFailures": proof.failures}
        if proof.began is not None:
            found["proofAge"] = max(0, round((self.clock() - proof.began) * 1_000))
            found["proofDifferences"] = proof.differences
            found["proofUndecided"] = proof.undecided
        return found

    def _rate(self, table: str, counter: str) -> float:
        """Return a counter's rate per second over the window; 0 if there is only one sample."""
        (begun, first), (ended, last) = self._samples[0], self._samples[-1]
        if ended <= begun:
            return 0.0
        rise = last[table].get(counter, 0) - first.get(table, {}).get(counter, 0)
        return rise / (ended - begun)


def _query(state: QueryState) -> dict[str, Any]:
    return {
        "lastCheckpoint": state.finished,
        "lastBatch": state.batch,
        "batchDuration": state.milliseconds,
        "watermark": state.watermark,
        "partitionWatermark": dict(state.partitions),
        "mode": state.mode,
        "stateRows": _sum(each.rows for each in state.operators),
        "stateBytes": sum(each.bytes for each in state.operators),
        "operators": [
            {
                "name": each.name,
                "stateRows": each.rows,
                "stateBytes": each.bytes,
                "stateTime": each.milliseconds,
            }
            for each in state.operators
        ],
    }


def _sum(counts: Iterable[int | None]) -> int | None:
    """Return the sum, or None if one of the counts is not known."""
    total = 0
    for count in counts:
        if count is None:
            return None
        total += count
    return total
