"""Committed records of topics of ids, and how often each id occurs."""

from __future__ import annotations

import json
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

from confluent_kafka import Consumer, IsolationLevel, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec
from tests.integration.jobs.support import PATIENCE_S

if TYPE_CHECKING:
    from collections.abc import Iterator


def records(servers: str, topic: str) -> Iterator[Any]:
    """Yield every committed record up to the end of each partition."""
    consumer = Consumer(
        {
            "bootstrap.servers": servers,
            "group.id": "reader",
            "isolation.level": "read_committed",
            "enable.partition.eof": True,
        }
    )
    partitions = consumer.list_topics(topic, timeout=30).topics[topic].partitions
    consumer.assign([TopicPartition(topic, p, 0) for p in partitions])
    left = set(partitions)
    deadline = time.monotonic() + PATIENCE_S
    while left:
        assert time.monotonic() < deadline, "a transaction was left open"
        message = consumer.poll(1)
        if message is None:
            continue
        if message.error():
            left.discard(message.partition())
        else:
            yield message
    consumer.close()


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
