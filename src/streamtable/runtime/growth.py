"""Tells of partitions that were added to an upsert topic: its keys have moved.

A producer chooses a partition by the key and by how many there are, so after a growth the versions
of one key lie in several partitions, between which Kafka knows no order. A job that had read all of
them before is not harmed: what comes then is later. One that had not may take an older version,
which it reads later, for the newer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pyspark.sql.streaming.listener import StreamingQueryProgress

from streamtable.connectors.kafka.table import KafkaTable
from streamtable.plan.nodes import Sink
from streamtable.runtime.lag import positions
from streamtable.runtime.preflight import Notice, source_tables


class Growth:
    """The upsert topics of one job.

    Args:
        plans: by the names of the queries.
        notice: takes one line per table and topic that has grown.
    """

    def __init__(self, plans: Mapping[str, Sink], notice: Notice) -> None:
        self._tables: dict[str, list[KafkaTable]] = {
            query: [t for t in source_tables([plan]) if t.is_upsert]
            for query, plan in plans.items()
        }
        self._notice = notice
        self._known: dict[tuple[str, str], int] = {}

    def see(self, progress: Mapping[str, StreamingQueryProgress]) -> None:
        """Compares the partitions of each query's last batch with those of the one before."""
        for query, found in progress.items():
            begun = _partitions(s.startOffset for s in found.sources)
            ended = _partitions(s.endOffset for s in found.sources)
            for table in self._tables[query]:
                for topic, count in ended.items():
                    if table.reads_topic(topic):
                        self._compare(table, topic, begun.get(topic), count)

    def _compare(self, table: KafkaTable, topic: str, begun: int | None, count: int) -> None:
        key = (table.table, topic)
        before = self._known.get(key, begun)
        self._known[key] = count
        if before is not None and before < count:
            self._notice(
                f"{table.table}: upsert topic '{topic}' has grown from {before} to {count}"
                " partitions, so its keys have moved; versions of a row that were not read before"
                " it grew may be taken in a wrong order. A new topic with that many partitions,"
                " filled from the old one, and a new checkpoint are the safe way"
            )


def _partitions(offsets: Iterable[str | None]) -> dict[str, int]:
    """How many partitions of each topic a batch knows."""
    found: dict[str, int] = {}
    for topic, partition in positions(offsets):
        found[topic] = max(partition + 1, found.get(topic, 0))
    return found
