"""Report partitions that were added to an upsert topic.

A producer derives the partition of a record from its key and the number of partitions. After a
growth, the versions of one key are in several partitions, and Kafka does not order records across
partitions. A job that had read all earlier records before the growth is not affected. Any other job
may read an older version of a key after a newer one, and so keep the older version.
"""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql.streaming.listener import StreamingQueryProgress

from streamtable.connector_api.preflight import Notice
from streamtable.connectors.kafka.cluster.own_topics import reads_topic
from streamtable.connectors.kafka.cluster.positions import positions
from streamtable.connectors.kafka.table import KafkaTable
from streamtable.jvm.bridge import Bridge


class PartitionGrowth:
    """Detects partition growth in the topics of one upsert table that one query reads.

    Args:
        table: the upsert table.
        bridge: the JVM side.
        notice: called with one line for each topic with new partitions.
    """

    def __init__(self, table: KafkaTable, bridge: Bridge, notice: Notice) -> None:
        self._table = table
        self._bridge = bridge
        self._notice = notice
        self._known: dict[str, int] = {}

    def on_progress(self, progress: StreamingQueryProgress) -> None:
        """Compare the partitions of the query's last batch with those of the batch before it."""
        begun = _partitions(s.startOffset for s in progress.sources)
        ended = _partitions(s.endOffset for s in progress.sources)
        for topic, count in ended.items():
            if reads_topic(self._table, topic, self._bridge):
                self._compare(topic, begun.get(topic), count)

    def _compare(self, topic: str, begun: int | None, count: int) -> None:
        before = self._known.get(topic, begun)
        self._known[topic] = count
        if before is not None and before < count:
            self._notice(
                f"{self._table.table}: upsert topic '{topic}' has grown from {before} to"
                f" {count} partitions, so keys have moved to other partitions; versions of a"
                " row that were unread before may be read in the wrong order. To be safe, copy"
                " the topic into a new topic with that many partitions and start with a new"
                " checkpoint"
            )


def _partitions(offsets: Iterable[str | None]) -> dict[str, int]:
    """Return the number of partitions of each topic in the offsets of a batch."""
    found: dict[str, int] = {}
    for topic, partition in positions(offsets):
        found[topic] = max(partition + 1, found.get(topic, 0))
    return found
