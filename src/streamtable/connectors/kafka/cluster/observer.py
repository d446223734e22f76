"""The observer of a table that a job reads: consumer-group commits and partition growth."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from pyspark.sql.streaming.listener import StreamingQueryProgress

from streamtable.connector_api.preflight import Notice
from streamtable.connectors.kafka.cluster.groups import GroupCommits, tables_of_group
from streamtable.connectors.kafka.cluster.partition_growth import PartitionGrowth
from streamtable.connectors.kafka.table import KafkaTable
from streamtable.jvm.bridge import Bridge


class KafkaSourceObserver:
    """Reports the progress of a job's queries in a table's topics.

    Several tables may have one consumer group. The observer of the first of them commits for all.

    Args:
        table: the table.
        queries: the tables that each query of the job reads, by the name of the query.
        bridge: the JVM side.
        notice: called with one line for the user.
    """

    def __init__(
        self,
        table: KafkaTable,
        queries: Mapping[str, Sequence[KafkaTable]],
        bridge: Bridge,
        notice: Notice,
    ) -> None:
        shared = tables_of_group(table, queries)
        commits = next((tables[0] == table for tables in shared.values()), False)
        self._group = GroupCommits(shared, bridge, notice) if commits else None
        upserts = [name for name, tables in queries.items() if table.is_upsert and table in tables]
        self._growth = {name: PartitionGrowth(table, bridge, notice) for name in upserts}

    def on_progress(
        self, newest: Mapping[str, StreamingQueryProgress | None], finished: Collection[str]
    ) -> None:
        """Report the newest batch of each query."""
        if self._group is not None:
            self._group.on_progress(newest, finished)
        for name, growth in self._growth.items():
            progress = newest.get(name)
            if progress is not None:
                growth.on_progress(progress)

    def close(self) -> None:
        """Wait for commits that are in flight."""
        if self._group is not None:
            self._group.close()
