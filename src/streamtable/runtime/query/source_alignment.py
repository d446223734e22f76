"""Source alignment: limits the skew between queries of one job that read the same table.

Each INSERT is a query with its own progress. In micro-batches, no query begins a batch that would
end more than `execution.max-lead` records of a partition after the slowest query's committed
offset. Therefore the skew between sinks has this bound, also after a crash. Real-time mode does not
wait: a query is in real-time mode because it keeps up.

A query is aligned by one table, the table that most queries share. With two tables, two queries
could wait for each other: one because of the first table, the other because of the second.
`alignment_gaps` reports where the bound does not apply.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from streamtable.core.options import Settings
from streamtable.core.settings.execution import MAX_LEAD, ExecutionMode
from streamtable.jvm.bridge import Bridge
from streamtable.plan.sink.sink import Sink
from streamtable.runtime.endpoints import sources_of

#: Minimum number of queries that are aligned with each other.
_MINIMUM = 2


@dataclass(frozen=True)
class SourceAlignment:
    """Source alignment of the queries of a job.

    Attributes:
        tables: table by which each query is aligned, by query name. Queries without alignment are
            missing.
        job: id of the job.
    """

    tables: Mapping[str, str]
    job: str
    bridge: Bridge

    def begin(self, records: int) -> None:
        """Start the alignment: a query may lead by at most `records` records of a partition."""
        for table in set(self.tables.values()):
            queries = [query for query, own in self.tables.items() if own == table]
            self.bridge.java.source.SourceAlignment.begin(
                self._id(table), self.bridge.java_list(queries), records
            )

    def end(self) -> None:
        """End the alignment: no query waits any longer; no waiting query begins another batch."""
        for table in set(self.tables.values()):
            self.bridge.java.source.SourceAlignment.end(self._id(table))

    def of(self, query: str) -> dict[str, str]:
        """Return the table by which a query is aligned, with the id of the alignment, if any."""
        return {t: self._id(t) for q, t in self.tables.items() if q == query}

    def _id(self, table: str) -> str:
        return f"{self.job}/{table}"


def align_sources(
    plans: Mapping[str, Sink], modes: Mapping[str, ExecutionMode], job: str, bridge: Bridge
) -> SourceAlignment:
    """Choose the table by which each query is aligned.

    Args:
        plans: by the names of the queries.
        modes: the requested modes.
        job: id of the job.
        bridge: the JVM side.
    """
    waiting = {
        query: tables
        for query, tables in _read(plans).items()
        if modes[query] is not ExecutionMode.REAL_TIME
    }
    chosen: dict[str, str] = {}
    while True:
        left = [tables for query, tables in waiting.items() if query not in chosen]
        readers = Counter(table for tables in left for table in tables)
        ((table, count),) = readers.most_common(1) or [("", 0)]
        if count < _MINIMUM:
            return SourceAlignment(chosen, job, bridge)
        chosen |= {q: table for q, ts in waiting.items() if table in ts and q not in chosen}


def alignment_gaps(
    plans: Mapping[str, Sink],
    modes: Mapping[str, ExecutionMode],
    alignment: SourceAlignment,
    settings: Settings,
) -> Iterator[str]:
    """Yield a line for each table and reason where the bound in the script does not apply.

    Args:
        plans: by the names of the queries.
        modes: the requested modes.
        alignment: the alignment of the queries.
        settings: the session's.
    """
    read = _read(plans) if settings.has(MAX_LEAD) else {}
    for table in dict.fromkeys(table for tables in read.values() for table in tables):
        readers = [query for query, tables in read.items() if table in tables]
        if len(readers) == 1:
            continue
        leaving = [q for q in readers if modes[q] is not ExecutionMode.MICRO_BATCH]
        if leaving:
            yield (
                f"{table}: '{MAX_LEAD.key}' applies only in micro-batches; {', '.join(leaving)}"
                " may run in real-time mode, which has no limit"
            )
        waiting = [q for q in readers if modes[q] is not ExecutionMode.REAL_TIME]
        free = [q for q in waiting if alignment.tables.get(q) != table]
        if free:
            yield (
                f"{table}: '{MAX_LEAD.key}' does not align {', '.join(free)} with the other"
                " queries of this table: a query is aligned by one table, the table that most"
                " queries share"
            )


def _read(plans: Mapping[str, Sink]) -> dict[str, list[str]]:
    """Return the names of the tables that each query reads, each once."""
    return {
        query: list(dict.fromkeys(s.table for s in sources_of([plan]) if s.supports_alignment))
        for query, plan in plans.items()
    }
