"""Write and read records of topics, for tests and examples."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition

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
    producer = _producer(servers, seconds)
    with suppress(KafkaException):  # the broker may come while the records wait
        producer.list_topics(topic, timeout=seconds)  # the topic may have more partitions by now

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
        _producer.cache_clear()
        raise KafkaException(failed[0])


@lru_cache(1)
def _producer(servers: str, seconds: float) -> Producer:
    """Return a producer, which is kept: a new one waits half a second for its producer id."""
    return Producer(
        {
            "bootstrap.servers": servers,
            "linger.ms": 5,
            "partitioner": "murmur2_random",
            "sticky.partitioning.linger.ms": 0,  # records without a key go to all partitions
            # Idempotent, so that each record is written once, even if a broker fails before it
            # acknowledges.
            "enable.idempotence": True,
            "message.timeout.ms": round(seconds * 1_000),
            "reconnect.backoff.max.ms": 500,
            "log_level": 2,  # no lines about a broker that has been stopped since
        }
    )


def records(
    servers: str, topic: str, isolation: str = "read_committed", seconds: float = 90
) -> list[Any]:
    """Return the messages of a topic up to its ends, one partition after the other.

    Raises:
        KafkaException: the topic cannot be read.
        TimeoutError: an end was not reached before the timeout, in seconds.
    """
    consumer = Consumer(
        {
            "bootstrap.servers": servers,
            "group.id": f"streamtable-test-{uuid.uuid4()}",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "isolation.level": isolation,
            # At an end, the broker waits for more records. The default is half a second.
            "fetch.wait.max.ms": 10,
        }
    )
    try:
        left = set(consumer.list_topics(topic, timeout=seconds).topics[topic].partitions)
        consumer.assign([TopicPartition(topic, partition, 0) for partition in left])
        found: list[Any] = []
        deadline = time.monotonic() + seconds
        while left:
            first = consumer.poll(max(0, deadline - time.monotonic()))
            if first is None:
                message = f"the ends of the partitions {sorted(left)} of {topic} were not reached"
                raise TimeoutError(message)
            for record in (first, *consumer.consume(_QUEUED, timeout=0)):
                error = record.error()
                if error is None:
                    found.append(record)
                elif error.code() == KafkaError._PARTITION_EOF:  # noqa: SLF001 - its only name
                    left.discard(record.partition())
                else:
                    raise KafkaException(error)
    finally:
        consumer.close()
    return sorted(found, key=lambda record: (record.partition(), record.offset()))


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
