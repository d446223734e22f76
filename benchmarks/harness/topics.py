"""Create, read and delete the topics of a benchmark."""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

PARTITIONS = 2


def create(servers: str, topics: Sequence[str], config: Mapping[str, str] | None = None) -> None:
    """Create topics with two partitions and these topic settings."""
    admin = AdminClient({"bootstrap.servers": servers})
    new = [NewTopic(topic, PARTITIONS, 1, config=dict(config or {})) for topic in topics]
    for created in admin.create_topics(new).values():
        created.result(timeout=30)


def delete(servers: str, topics: Sequence[str]) -> None:
    """Delete topics and wait until they no longer exist."""
    admin = AdminClient({"bootstrap.servers": servers})
    for deleted in admin.delete_topics(list(topics)).values():
        deleted.result(timeout=30)
    while set(topics) & set(admin.list_topics(timeout=30).topics):
        time.sleep(0.1)


@dataclass(frozen=True)
class Rows:
    """Rows of topics after all changes.

    Attributes:
        table: topic and key -> value, of records with a key.
        bag: value -> number of records without a key.
    """

    table: Mapping[tuple[str | None, bytes], bytes]
    bag: Mapping[bytes | None, int]

    def without(self, columns: Collection[str]) -> Rows:
        """Return the rows of the table without some columns of its values, which are JSON."""
        if not columns:
            return self

        def rest(value: bytes) -> bytes:
            row = json.loads(value)
            return json.dumps({k: v for k, v in row.items() if k not in columns}).encode()

        return Rows({key: rest(value) for key, value in self.table.items()}, self.bag)


def result(servers: str, topics: Sequence[str]) -> tuple[int, float, Rows]:
    """Read topics; return record count, time of the last record (epoch s) and folded rows."""
    consumer = Consumer(
        {
            "bootstrap.servers": servers,
            "group.id": "benchmark",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
        }
    )
    partitions = [TopicPartition(topic, p, 0) for topic in topics for p in range(PARTITIONS)]
    consumer.assign(partitions)
    count, last, at_end = 0, 0, 0
    table: dict[tuple[str | None, bytes], bytes] = {}
    bag: dict[bytes | None, int] = {}
    while at_end < len(partitions):
        for message in consumer.consume(10_000, timeout=10):
            error = message.error()
            if error is not None and error.code() != KafkaError._PARTITION_EOF:  # noqa: SLF001
                raise KafkaException(error)
            if error is not None:
                at_end += 1
                continue
            count += 1
            last = max(last, message.timestamp()[1])
            key, value = message.key(), message.value()
            if key is None:
                bag[value] = bag.get(value, 0) + 1
            elif value is None:
                table.pop((message.topic(), key), None)
            else:
                table[message.topic(), key] = value
    consumer.close()
    return count, last / 1000, Rows(table, bag)
