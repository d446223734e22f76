"""Holds the queries of one job together that read the same table.

Each INSERT is a query with a progress of its own. In micro-batches none of them begins a batch
that would end more than `execution.max-lead` records of a partition beyond where the slowest one
has committed, so that is how far sinks can be apart, after a crash too. Real-time mode waits for
nobody: a query is in it because it keeps up.

A query goes by one table, the one that most queries share. Going by two, one query could wait for
another because of the first table, and this one for that because of the second. Where the bound
does not hold, `unheld` says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from streamtable.core.options import Settings
from streamtable.core.settings import MAX_LEAD, ExecutionMode
from streamtable.jvm.bridge import Bridge
from streamtable.plan.nodes import Sink
from streamtable.runtime.preflight import source_tables

#: As many queries as wait for each other at least.
_COMPANY = 2


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
            self.bridge.kafka.Pace.begin(self._id(table), self.bridge.java_list(queries), records)

    def end(self) -> None:
        """None waits any longer, and none that was held begins another batch."""
        for table in set(self.tables.values()):
            self.bridge.kafka.Pace.end(self._id(table))

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
        if count < _COMPANY:
            return Pace(chosen, job, bridge)
        chosen |= {q: table for q, ts in waiting.items() if table in ts and q not in chosen}


def unheld(
    plans: Mapping[str, Sink], modes: Mapping[str, ExecutionMode], pace: Pace, settings: Settings
) -> Iterator[str]:
    """What a bound that the script gives does not hold together, a line for each table and reason.

    Args:
        plans: by the names of the queries.
        modes: what they were asked to run in.
        pace: what they go by.
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
                f"{table}: '{MAX_LEAD.key}' holds in micro-batches only;"
                f" {', '.join(leaving)} may run in real-time mode, where nobody waits"
            )
        waiting = [q for q in readers if modes[q] is not ExecutionMode.REAL_TIME]
        free = [q for q in waiting if pace.tables.get(q) != table]
        if free:
            yield (
                f"{table}: '{MAX_LEAD.key}' does not hold {', '.join(free)} together with others"
                " that read it: a query goes by one table, the one that most of them share"
            )


def _read(plans: Mapping[str, Sink]) -> dict[str, list[str]]:
    """The names of the tables that each query reads, each once."""
    return {
        query: list(dict.fromkeys(table.table for table in source_tables([plan])))
        for query, plan in plans.items()
    }
