"""Tells consumer groups how far a job has come, so that ordinary tools see its lag.

What counts for a restart is the checkpoint. A commit follows the batch that it tells of and is not
waited for, so a group may lag behind by some batches, never ahead.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyspark.sql.streaming.listener import StreamingQueryProgress

from streamtable.connectors.kafka.table import KafkaTable
from streamtable.jvm.bridge import Bridge
from streamtable.jvm.kafka_admin import Partition
from streamtable.plan.nodes import Sink
from streamtable.runtime.lag import positions
from streamtable.runtime.preflight import Notice, source_tables


class GroupCommits:
    """The groups of one job's tables.

    Args:
        plans: by the names of the queries.
        bridge: the JVM side.
        notice: takes one line where a group refuses, once per reason.
    """

    def __init__(self, plans: Mapping[str, Sink], bridge: Bridge, notice: Notice) -> None:
        self._tables: dict[str, list[KafkaTable]] = {
            query: [t for t in source_tables([plan]) if t.group_id is not None]
            for query, plan in plans.items()
        }
        self._bridge = bridge
        self._notice = notice
        self._groups: dict[str, Any] = {}
        self._committed: dict[str, Mapping[Partition, int]] = {}
        self._told: set[str] = set()

    def see(self, progress: Mapping[str, StreamingQueryProgress]) -> None:
        """Commits what the last batch of each query has read up to, where that is new."""
        for name, found in progress.items():
            position = positions(s.endOffset for s in found.sources)
            for table in self._tables[name]:
                self._commit(f"{name}/{table.table}", table, reached(table, position))
        self._tell_failures()

    def close(self) -> None:
        """Waits for what is on its way, some seconds at most."""
        for group in self._groups.values():
            group.close()
        self._tell_failures()

    def _commit(self, key: str, table: KafkaTable, offsets: Mapping[Partition, int]) -> None:
        if not offsets or self._committed.get(key) == offsets:
            return
        self._committed[key] = offsets
        if key not in self._groups:
            assert table.group_id is not None, "others were left out"  # noqa: S101
            properties = self._bridge.java_map(table.properties)
            self._groups[key] = self._bridge.kafka.GroupOffsets(properties, table.group_id)
        named = {f"{topic}:{partition}": offset for (topic, partition), offset in offsets.items()}
        self._groups[key].commit(self._bridge.java_map(named))

    def _tell_failures(self) -> None:
        for key, group in self._groups.items():
            reason = group.failure()
            if reason is not None and f"{key} {reason}" not in self._told:
                self._told.add(f"{key} {reason}")
                table = key.partition("/")[2]
                self._notice(
                    f"{table}: its consumer group does not show its progress, which the checkpoint"
                    f" keeps all the same: {reason}"
                )


def reached(table: KafkaTable, position: Mapping[Partition, int]) -> dict[Partition, int]:
    """How far a query has come in a table's topics."""
    return {p: offset for p, offset in position.items() if table.reads_topic(p[0])}
