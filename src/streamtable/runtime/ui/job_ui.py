"""The page of one job: its server, its status and its rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

from streamtable.connector_api.endpoints import sink_of
from streamtable.connector_api.tail import Tail
from streamtable.jvm.bridge import Bridge
from streamtable.plan.sink.sink import Sink
from streamtable.runtime.metrics.metrics import JobMetrics
from streamtable.runtime.metrics.prometheus import JobCollector, exposition
from streamtable.runtime.status.document import StatusDocument
from streamtable.runtime.status.views import holds_back, operators_of, slowest
from streamtable.runtime.ui.graph import Graph
from streamtable.runtime.ui.live_rows import KEPT, LiveRows
from streamtable.runtime.ui.server import Pages, UiAddress, serve_pages


class JobUi:
    """The page of a running job.

    Args:
        graph: the plans.
        document: returns the status of the job now.
        metrics: the metrics of the job.
        labels: labels of all metrics.
    """

    def __init__(
        self,
        graph: Graph,
        document: Callable[[], StatusDocument],
        metrics: JobMetrics,
        labels: Mapping[str, str],
    ) -> None:
        self._graph = graph
        self._document = document
        self._metrics = metrics
        self._labels = labels
        self._rows: LiveRows | None = None

    @contextmanager
    def rows_of(self, plans: Mapping[str, Sink], bridge: Bridge) -> Iterator[None]:
        """Show the newest rows of the sinks while the block runs.

        Args:
            plans: by the names of the queries.
            bridge: the JVM side.
        """
        self._rows = LiveRows({p.table.name: partial(_tail, p, bridge) for p in plans.values()})
        try:
            yield
        finally:
            rows, self._rows = self._rows, None
            rows.close()

    def pages(self) -> Pages:
        """Return what the server answers."""
        return Pages(self._status, self._look, self._exposition)

    def _exposition(self) -> tuple[bytes, str]:
        return exposition(JobCollector(self._metrics, self._document().name, self._labels))

    def _status(self) -> dict[str, Any]:
        document = self._document()
        queries = {}
        for name, query in document.metrics["queries"].items():
            titles = document.queries.get(name, {}).get("operators", [])
            operators = operators_of(query, titles)
            found = slowest(operators)
            queries[name] = {
                "operators": [vars(each) for each in operators],
                "matched": len(operators) == len(titles),
                "slowest": None if found is None else operators.index(found),
                "holdsBack": holds_back(query),
            }
        rows = self._rows
        return {
            "job": document.as_json(),
            "graph": self._graph,
            "views": queries,
            "readsRows": rows is not None and rows.reads,
        }

    def _look(self, after: int) -> dict[str, Any]:
        rows = self._rows
        return {"last": 0, "rows": {}, "declined": {}} if rows is None else rows.look(after)


def _tail(plan: Sink, bridge: Bridge) -> Tail:
    return sink_of(plan.table).tail(KEPT, bridge)


@contextmanager
def job_ui(ui: JobUi, address: UiAddress | None, notice: Callable[[str], None]) -> Iterator[JobUi]:
    """Serve a job's page while the block runs, if there is an address; yield the page.

    Raises:
        StreamtableError: PORT_TAKEN.
    """
    if address is None:
        yield ui
        return
    with serve_pages(ui.pages(), address.host, address.port) as url:
        notice(f"page of the job at {url}")
        yield ui
