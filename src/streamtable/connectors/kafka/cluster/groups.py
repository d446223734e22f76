"""Commit a job's progress to the consumer group of a table, so that ordinary tools see its lag.

A restart uses the offsets of the checkpoint, not those of the group. The job does not wait for a
commit to the group, so the group may be some batches behind the checkpoint, but never ahead of it.
Queries have checkpoints of their own, so the group has the lowest offset of the queries that read a
partition. Another job that starts at the group's offsets therefore skips no record of any query.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from pyspark.sql.streaming.listener import StreamingQueryProgress

from streamtable.connector_api.preflight import Notice
from streamtable.connectors.kafka.cluster.admin import Partition
from streamtable.connectors.kafka.cluster.own_topics import reads_topic
from streamtable.connectors.kafka.cluster.positions import positions
from streamtable.connectors.kafka.options.values import addresses
from streamtable.connectors.kafka.table import KafkaTable
from streamtable.jvm.bridge import Bridge


def tables_of_group(
    table: KafkaTable, queries: Mapping[str, Sequence[KafkaTable]]
) -> dict[str, list[KafkaTable]]:
    """Return the tables of each query whose progress belongs into the consumer group of a table.

    Queries without such a table are absent. The result is empty if the table commits no offsets.
    """
    group = _group_of(table)
    if group is None:
        return {}
    found = {name: [t for t in read if _group_of(t) == group] for name, read in queries.items()}
    return {name: tables for name, tables in found.items() if tables}


def _group_of(table: KafkaTable) -> tuple[str, str] | None:
    """Return the brokers and the name of a table's group; None if the table commits no offsets."""
    if table.group_id is None or not table.commits_offsets:
        return None
    return addresses(table.servers), table.group_id


class GroupCommits:
    """One consumer group of a job.

    Args:
        queries: the tables of the group that each query reads, by the name of the query; at least
            one.
        bridge: the JVM side.
        notice: called with one line for the user if the group refuses a commit, once per reason.
    """

    def __init__(
        self, queries: Mapping[str, Sequence[KafkaTable]], bridge: Bridge, notice: Notice
    ) -> None:
        self._queries = queries
        self._table = next(tables[0] for tables in queries.values())
        self._bridge = bridge
        self._notice = notice
        self._group: Any = None
        self._committed: Mapping[Partition, int] = {}
        self._reported: set[str] = set()

    def on_progress(
        self, newest: Mapping[str, StreamingQueryProgress | None], finished: Collection[str]
    ) -> None:
        """Commit the offsets that all queries have reached, if they are new."""
        offsets = self._reached(newest, finished)
        if offsets and offsets != self._committed:
            self._committed = offsets
            self._commit(offsets)
        self._report_failure()

    def close(self) -> None:
        """Wait a few seconds at most for commits that are in flight."""
        if self._group is not None:
            self._group.close()
            self._report_failure()

    def _reached(
        self, newest: Mapping[str, StreamingQueryProgress | None], finished: Collection[str]
    ) -> dict[Partition, int]:
        """Return the lowest offset of each partition for which every reader has an offset.

        A query that has read its input to the end needs no more records. Its offsets count only for
        partitions that no other query reads.
        """
        reached = {
            name: positions(s.endOffset for s in progress.sources) if progress else {}
            for name, progress in newest.items()
            if name in self._queries
        }
        found: dict[Partition, int] = {}
        for partition in {p: None for own in reached.values() for p in own}:
            offsets = {
                name: own.get(partition)
                for name, own in reached.items()
                if any(reads_topic(t, partition[0], self._bridge) for t in self._queries[name])
            }
            known = {name: offset for name, offset in offsets.items() if offset is not None}
            unfinished = offsets.keys() - set(finished)
            if known and unfinished <= known.keys():
                found[partition] = min(known[name] for name in unfinished or known)
        return found

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
