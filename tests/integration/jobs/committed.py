"""Committed records of topics of ids, and how often each id occurs."""

from __future__ import annotations

import json
from collections import Counter

from confluent_kafka import IsolationLevel, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

from streamtable.testing.topics import records


def ids_in(servers: str, topic: str) -> Counter[int]:
    """Count how often each id is in a topic."""
    return Counter(json.loads(record.value())["id"] for record in records(servers, topic))


def once(count: int) -> Counter[int]:
    """Return the ids below `count`, each once."""
    return Counter(dict.fromkeys(range(count), 1))


def open_partitions(servers: str, topic: str) -> list[int]:
    """Return the partitions with an open transaction, where readers of committed records wait."""
    admin = AdminClient({"bootstrap.servers": servers})
    partitions = admin.list_topics(topic, timeout=30).topics[topic].partitions
    asked = {TopicPartition(topic, p): OffsetSpec.latest() for p in partitions}
    ends = []
    for level in (IsolationLevel.READ_COMMITTED, IsolationLevel.READ_UNCOMMITTED):
        found = admin.list_offsets(asked, isolation_level=level, request_timeout=30)
        ends.append({place.partition: end.result().offset for place, end in found.items()})
    stable, newest = ends
    return [p for p in partitions if stable[p] < newest[p]]
