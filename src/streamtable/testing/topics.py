"""Records put into topics, as a test or an example needs them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from confluent_kafka import KafkaException, Producer

from streamtable.testing.histories import Change


def produce(
    servers: str,
    topic: str,
    records: Iterable[tuple[bytes | None, bytes | None]],
    partition: int = -1,
) -> None:
    """Sends records of (key, value) and waits until the broker has them all.

    They go to one partition or, with -1, to those that Java's producers choose (murmur2 of the
    key).

    Raises:
        KafkaException: the broker did not take one of them.
    """
    failed: list[Any] = []
    producer = Producer(
        {
            "bootstrap.servers": servers,
            "linger.ms": 20,
            "partitioner": "murmur2_random",
            # Each record once, also where a broker dies between taking it and saying so.
            "enable.idempotence": True,
        }
    )
    for key, value in records:
        producer.produce(
            topic,
            value,
            key,
            partition,
            on_delivery=lambda error, _: failed.append(error) if error else None,
        )
        producer.poll(0)
    producer.flush(60)
    if failed:
        raise KafkaException(failed[0])


def produce_json(servers: str, topic: str, rows: Iterable[Mapping[str, Any]]) -> None:
    """Sends rows as json values without keys."""
    produce(servers, topic, ((None, json.dumps(row).encode()) for row in rows))


def produce_changes(servers: str, topic: str, key: str, changes: Iterable[Change]) -> None:
    """Sends a history as json: the key column in the key, all columns in the value."""
    produce(servers, topic, (_record(key, change) for change in changes))


def _record(key: str, change: Change) -> tuple[bytes, bytes | None]:
    key_bytes = json.dumps({key: change.key}, separators=(",", ":")).encode()
    if change.values is None:
        return key_bytes, None
    return key_bytes, json.dumps({key: change.key, **change.values}).encode()
