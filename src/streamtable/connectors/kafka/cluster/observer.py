"""The observer of a query that reads topics: consumer-group commits and partition growth."""

from __future__ import annotations

from pyspark.sql.streaming.listener import StreamingQueryProgress

from streamtable.connector_api.preflight import Notice
from streamtable.connectors.kafka.cluster.groups import GroupCommits
from streamtable.connectors.kafka.cluster.partition_growth import PartitionGrowth
from streamtable.connectors.kafka.table import KafkaTable
from streamtable.jvm.bridge import Bridge


class KafkaSourceObserver:
    """Reports one query's progress in a table's topics.

    Args:
        table: the table that the query reads.
        bridge: the JVM side.
        notice: called with one line for the user.
    """

    def __init__(self, table: KafkaTable, bridge: Bridge, notice: Notice) -> None:
        self._group = GroupCommits(table, bridge, notice) if table.group_id is not None else None
        self._growth = PartitionGrowth(table, bridge, notice) if table.is_upsert else None

    def on_progress(self, progress: StreamingQueryProgress) -> None:
        """Report the newest batch of the query."""
        if self._group is not None:
            self._group.on_progress(progress)
        if self._growth is not None:
            self._growth.on_progress(progress)

    def close(self) -> None:
        """Wait for commits that are in flight."""
        if self._group is not None:
            self._group.close()
