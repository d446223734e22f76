"""The status of a running job: metrics of its query, and the progress of its reader."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from streamtable.core.checkpoint_path import CheckpointPath
from streamtable.core.options import Settings
from streamtable.core.settings.execution import ExecutionMode
from streamtable.core.settings.job import JOB_NAME
from streamtable.ingest.run.status import ReaderStatus
from streamtable.jvm.streaming.counters import Counters
from streamtable.jvm.streaming.progress import batch_times
from streamtable.runtime.metrics.metrics import JobMetrics, QueryState, TableCounts
from streamtable.runtime.query.query_run import QueryRun
from streamtable.runtime.status.reporter import ReportedJob
from streamtable.runtime.ui.graph import Graph

#: Interval of the metrics, in seconds.
_INTERVAL_S = 1.0


class Report:
    """Metrics and reader status of a job, which its status document contains.

    Args:
        query: name of the query.
        sink: name of the sink, as the metrics' table.
    """

    def __init__(self, query: str, sink: str) -> None:
        self._query, self._sink = query, sink
        self._status: ReaderStatus | None = None
        self._at = float("-inf")
        self.metrics = JobMetrics()

    def job(
        self, settings: Settings, name: str, directory: CheckpointPath, *, temporary: bool
    ) -> ReportedJob:
        """Return what the status document says about the job from its start.

        Args:
            settings: the session's settings.
            name: name of a job without 'pipeline.name'.
            directory: checkpoint directory.
            temporary: whether the directory is deleted at the end.
        """
        outline = {"reads": [], "writes": self._sink, "operators": []}
        return ReportedJob(
            settings.get(JOB_NAME) or name,
            "ingestion",
            directory,
            temporary=temporary,
            queries={self._query: outline},
        )

    def graph(self) -> Graph:
        """Return the job as a graph of two nodes: its reader and its sink."""
        reader = {"id": "reader", "kind": "operator", "title": "MySQL reader", "state": None}
        sink = {"id": "sink", "kind": "table", "title": self._sink, "state": None}
        return {
            "nodes": [
                {**reader, "line": "reads rows, then the binlog", "query": self._query},
                {**sink, "line": "writes a topic for each table", "query": None},
            ],
            "edges": [["reader", "sink"]],
        }

    def look(self, status: ReaderStatus | None, run: QueryRun, counters: Counters) -> None:
        """Take the metrics of the query, if the interval has passed."""
        self._status = status or self._status
        if time.monotonic() >= self._at + _INTERVAL_S:
            self.take(run, counters)

    def take(self, run: QueryRun, counters: Counters) -> None:
        """Take the metrics of the query."""
        self._at = time.monotonic()
        sending = counters.sending.value()
        table = TableCounts(counters.values(), sending=sending, writes=True)
        queries = {}
        progress = run.progress
        if progress is not None:
            finished, took = batch_times(progress)
            mode = ExecutionMode.MICRO_BATCH.value
            queries[self._query] = QueryState(
                progress.batchId, finished, milliseconds=took, mode=mode
            )
        self.metrics.take({self._sink: table}, queries)

    def reader(self) -> Mapping[str, Any] | None:
        """Return the newest status of the reader."""
        return None if self._status is None else asdict(self._status)
