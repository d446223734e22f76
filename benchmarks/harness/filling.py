"""Fill topics before a job starts."""

from __future__ import annotations

from collections.abc import Iterable

from confluent_kafka import Producer

from benchmarks.workloads.records import Record


def fill(servers: str, records: Iterable[Record]) -> int:
    """Produce records as fast as the broker accepts them; return their number."""
    producer = Producer(
        {
            "bootstrap.servers": servers,
            "linger.ms": 50,
            "queue.buffering.max.messages": 1_000_000,
            "log_level": 0,
        }
    )
    count = 0
    for record in records:
        _produce(producer, record)
        count += 1
    producer.flush()
    return count


def _produce(producer: Producer, record: Record) -> None:
    topic, key, value = record
    while True:
        try:
            producer.produce(topic, key=key, value=value)
        except BufferError:
            producer.poll(0.1)
        else:
            producer.poll(0)
            return
