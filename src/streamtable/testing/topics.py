"""Write records to topics, for tests and examples."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from confluent_kafka import KafkaException, Producer

from streamtable.testing.histories import Change

#: How many records wait for the broker at most; the client refuses more than 100,000.
_QUEUED = 50_000


def produce(
    servers: str,
    topic: str,
    records: Iterable[tuple[bytes | None, bytes | None]],
    partition: int = -1,
    seconds: float = 60,
) -> None:
    """Send records of (key, value) and wait until the broker has acknowledged all of them.

    All records go to one partition. With -1, they go to the partitions that Java's producers choose
    (murmur2 of the key).

    Raises:
        KafkaException: the broker did not acknowledge a record before the timeout, in seconds.
    """
    failed: list[Any] = []
    producer = Producer(
        {
            "bootstrap.servers": servers,
            "linger.ms": 20,
            "partitioner": "murmur2_random",
            # Idempotent, so that each record is written once, even if a broker fails before it
            # acknowledges.
            "enable.idempotence": True,
            "message.timeout.ms": round(seconds * 1_000),
        }
    )

    def done(error: Any, _: Any) -> None:
        if error:
            failed.append(error)

    for key, value in records:
        while len(producer) >= _QUEUED:
            producer.poll(0.1)
        producer.produce(topic, value, key, partition, on_delivery=done)
        producer.poll(0)
    # By then, each record has been acknowledged or has failed.
    producer.flush()
    if failed:
        raise KafkaException(failed[0])


def produce_json(servers: str, topic: str, rows: Iterable[Mapping[str, Any]]) -> None:
    """Send rows as JSON values without keys."""
    produce(servers, topic, ((None, json.dumps(row).encode()) for row in rows))


def produce_changes(servers: str, topic: str, key: str, changes: Iterable[Change]) -> None:
    """Send a history as JSON: the key column in the key, all columns in the value."""
    produce(servers, topic, (_record(key, change) for change in changes))


def _record(key: str, change: Change) -> tuple[bytes, bytes | None]:
    key_bytes = json.dumps({key: change.key}, separators=(",", ":")).encode()
    if change.values is None:
        return key_bytes, None
    return key_bytes, json.dumps({key: change.key, **change.values}).encode()
