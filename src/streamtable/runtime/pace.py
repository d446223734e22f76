"""Holds the queries of one job together that read the same table.

Each INSERT is a query with a progress of its own. In micro-batches none of them begins a batch
that would end more than `execution.max-lead` records of a partition beyond where the slowest one
has committed, so that is how far sinks can be apart, after a crash too. Real-time mode waits for
nobody: a query is in it because it keeps up.

A query goes by one table, the first of its own that others read too. Going by two, one query could
wait for another because of the first table, and this one for that because of the second.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from streamtable.core.settings import ExecutionMode
from streamtable.jvm.bridge import Bridge
from streamtable.plan.nodes import Sink
from streamtable.runtime.preflight import source_tables


@dataclass(frozen=True)
class Pace:
    """What the queries of a job go by.

    Attributes:
        tables: by the names of the queries; those that go by none are missing.
        job: its id.
    """

    tables: Mapping[str, str]
    job: str
    bridge: Bridge

    def begin(self, records: int) -> None:
        """From now on a query may be ahead by so many records of a partition."""
        for table in set(self.tables.values()):
            queries = [query for query, own in self.tables.items() if own == table]
            self.bridge.pace.begin(self._id(table), self.bridge.java_list(queries), records)

    def end(self) -> None:
        """None waits any longer, and none that was held begins another batch."""
        for table in set(self.tables.values()):
            self.bridge.pace.end(self._id(table))

    def of(self, query: str) -> dict[str, str]:
        """The table that a query goes by, with the id of what holds it, if there is one."""
        return {t: self._id(t) for q, t in self.tables.items() if q == query}

    def _id(self, table: str) -> str:
        return f"{self.job}/{table}"


def pace_of(
    plans: Mapping[str, Sink], modes: Mapping[str, ExecutionMode], job: str, bridge: Bridge
) -> Pace:
    """Which table each query goes by.

    Args:
        plans: by the names of the queries.
        modes: what they were asked to run in.
        job: its id.
        bridge: the JVM side.
    """
    read = {
        query: [table.table for table in source_tables([plan])]
        for query, plan in plans.items()
        if modes[query] is not ExecutionMode.REAL_TIME
    }
    readers = Counter(table for tables in read.values() for table in tables)
    first = {
        query: next((t for t in tables if readers[t] > 1), None) for query, tables in read.items()
    }
    groups = Counter(first.values())
    chosen = {q: t for q, t in first.items() if t is not None and groups[t] > 1}
    return Pace(chosen, job, bridge)
