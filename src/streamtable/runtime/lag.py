"""How far a query is behind its topics, in records."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from streamtable.connectors.kafka.bounds import ahead
from streamtable.core.errors import Condition, StreamtableError
from streamtable.jvm.bridge import Bridge
from streamtable.jvm.kafka_admin import KafkaAdmin, Partition
from streamtable.plan.nodes import Sink
from streamtable.runtime.preflight import source_tables


def records_behind(reached: Iterable[str | None], plan: Sink, bridge: Bridge) -> int | None:
    """Records that the topics of a query hold beyond where it stands.

    None while the brokers do not answer: how long a job waits for them is up to its clients, and
    this question does not end it sooner.

    Args:
        reached: a position per source as Spark writes it down, `{"topic": {"0": 17}}`: the offset
            of the next record to be read.
        plan: the query.
        bridge: to ask the cluster through.

    Raises:
        StreamtableError: BROKER_FAILED, LOGIN_FAILED or ACCESS_DENIED.
    """
    position = positions(reached)
    ends: dict[Partition, int] = {}
    for table in source_tables([plan]):
        own = sorted({topic for topic, _ in position if table.reads_topic(topic)})
        try:
            ends |= KafkaAdmin(bridge, table.properties).end_offsets(own)
        except StreamtableError as error:
            if error.condition is not Condition.BROKER_UNREACHABLE:
                raise
            return None
    return distance(position, ends)


def ends_ahead(plan: Sink, bridge: Bridge) -> dict[Partition, int]:
    """Ends of a query's scans that lie beyond those of their topics."""
    found: dict[Partition, int] = {}
    for table in source_tables([plan]):
        for partition, end in ahead(table, KafkaAdmin(bridge, table.properties)).items():
            found[partition] = max(end, found.get(partition, 0))
    return found


def positions(reached: Iterable[str | None]) -> dict[Partition, int]:
    """The positions of several sources, by partition; the one furthest behind counts.

    A source that has not begun has none.
    """
    found: dict[Partition, int] = {}
    for text in filter(None, reached):
        offsets: Any = json.loads(text)
        if not isinstance(offsets, dict):  # a file source counts otherwise
            continue
        for topic, partitions in offsets.items():
            if isinstance(partitions, dict):
                for partition, offset in partitions.items():
                    key = (topic, int(partition))
                    found[key] = min(offset, found.get(key, offset))
    return found


def distance(position: Mapping[Partition, int], ends: Mapping[Partition, int]) -> int:
    """Records between positions and the ends of the same partitions."""
    return sum(max(0, ends.get(key, offset) - offset) for key, offset in position.items())
