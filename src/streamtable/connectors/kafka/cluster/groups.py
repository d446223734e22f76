"""Commit a query's progress to the consumer group of a table, so that ordinary tools see its lag.

A restart uses the offsets of the checkpoint, not those of the group. The query does not wait for a
commit to the group, so the group may be some batches behind the checkpoint, but never ahead of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyspark.sql.streaming.listener import StreamingQueryProgress

from streamtable.connector_api.preflight import Notice
from streamtable.connectors.kafka.cluster.admin import Partition
from streamtable.connectors.kafka.cluster.own_topics import own_offsets
from streamtable.connectors.kafka.cluster.positions import positions
from streamtable.connectors.kafka.table import KafkaTable
from streamtable.jvm.bridge import Bridge


class GroupCommits:
    """The consumer group of one table, for one query that reads the table.

    Args:
        table: a table with a consumer group.
        bridge: the JVM side.
        notice: called with one line for the user if the group refuses a commit, once per reason.
    """

    def __init__(self, table: KafkaTable, bridge: Bridge, notice: Notice) -> None:
        self._table = table
        self._bridge = bridge
        self._notice = notice
        self._group: Any = None
        self._committed: Mapping[Partition, int] = {}
        self._reported: set[str] = set()

    def on_progress(self, progress: StreamingQueryProgress) -> None:
        """Commit the end offsets of the query's last batch, if they are new."""
        found = positions(s.endOffset for s in progress.sources)
        offsets = own_offsets(self._table, found, self._bridge)
        if offsets and offsets != self._committed:
            self._committed = offsets
            self._commit(offsets)
        self._report_failure()

    def close(self) -> None:
        """Wait a few seconds at most for commits that are in flight."""
        if self._group is not None:
            self._group.close()
            self._report_failure()

    def _commit(self, offsets: Mapping[Partition, int]) -> None:
        if self._group is None:
            properties = self._bridge.java_map(self._table.properties)
            self._group = self._bridge.java.kafka.admin.GroupOffsets(
                properties, self._table.group_id
            )
        named = {f"{topic}:{partition}": offset for (topic, partition), offset in offsets.items()}
        self._group.commit(self._bridge.java_map(named))

    def _report_failure(self) -> None:
        reason = None if self._group is None else self._group.failure()
        if reason is not None and reason not in self._reported:
            self._reported.add(reason)
            self._notice(
                f"{self._table.table}: the offsets of its consumer group were not updated, but"
                f" the checkpoint holds the progress: {reason}"
            )
