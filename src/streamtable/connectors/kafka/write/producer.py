"""Settings of a sink's Java producer, and its use by a query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql.streaming.readwriter import DataStreamWriter

from streamtable.core.checkpoint_path import CheckpointPath
from streamtable.jvm.bridge import Bridge
from streamtable.jvm.streaming.counters import Counters


@dataclass(frozen=True)
class TransactionsSpec:
    """The transactions of one query.

    Attributes:
        prefix: the prefix of transactional ids; a dash and the number of the task follow.
        job: the id that separates this job's epochs from those of another job with this prefix.
    """

    prefix: str
    job: str


@dataclass(frozen=True, kw_only=True)
class WriterSpec:
    """The conversion of rows (key, value, ...) into records.

    Attributes:
        guarantee: `NONE` or `AT_LEAST_ONCE`; transactions also use `AT_LEAST_ONCE`.
        transactions: None if records are not written in transactions.
        topics: position of the topic in the row, -1 if all rows go to `topic`. If rows have a
            topic, `topic` only stores the epochs of transactions, and a row without a key deletes
            all keys of its topic.
        reading: consumer properties for finding these keys.
        headers: position of a MAP of headers in the row, -1 for none.
        timestamp: position of the record's timestamp, -1 for none.
        partition: position of the record's partition, -1 for none.
        partitions: `DEFAULT`, `FIXED` or `ROUND_ROBIN`, for rows without a partition.
        buffer_rows: the highest number of rows that a task buffers to send only the last one per
            key; 0 is off.
    """

    topic: str
    properties: Mapping[str, str]
    guarantee: str
    transactions: TransactionsSpec | None = None
    topics: int = -1
    reading: Mapping[str, str] = field(default_factory=dict)
    headers: int = -1
    timestamp: int = -1
    partition: int = -1
    partitions: str = "DEFAULT"
    buffer_rows: int = 0
    buffer_interval_ms: int = 0


def set_writer(
    query: DataStreamWriter,
    spec: WriterSpec,
    counters: Counters,
    bridge: Bridge,
    checkpoint: CheckpointPath,
) -> None:
    """Configure a streaming query with a checkpoint to write its rows as records."""
    bridge.for_each(query, _writer(spec, counters, bridge, checkpoint, None))


def set_writers(
    query: DataStreamWriter,
    written: Sequence[tuple[WriterSpec, Counters]],
    bridge: Bridge,
    checkpoint: CheckpointPath,
) -> None:
    """Configure a streaming query to write to several topics, in common transactions if any.

    Args:
        query: the query; the last column of its rows is the place of the writer in `written`.
        written: settings and counters of the writers; all of them have equal transactions, or none.
        bridge: the JVM side.
        checkpoint: the checkpoint of the query.
    """
    first, delivery = written[0][0], None
    make = bridge.java.kafka.write.KafkaWriters
    if first.transactions is not None:
        ids = (first.transactions.prefix, first.transactions.job)
        properties = bridge.java_map(first.properties)
        delivery = make.transactional(properties, first.topic, *ids, len(written))
    writers = [_writer(spec, counters, bridge, checkpoint, delivery) for spec, counters in written]
    bridge.for_each(query, make.of(bridge.java_list(writers)))


def _writer(
    spec: WriterSpec,
    counters: Counters,
    bridge: Bridge,
    checkpoint: CheckpointPath,
    delivery: Any | None,
) -> Any:
    """Return the Java writer; `delivery` is the one that it shares with others, if any."""
    properties = bridge.java_map(spec.properties)
    buffer = (spec.buffer_rows, spec.buffer_interval_ms)
    java = bridge.java.kafka.write
    if delivery is not None:
        writer = java.KafkaWriters.writer(spec.topic, delivery, *buffer, counters.java)
    elif spec.transactions is None:
        writer = java.KafkaWriter.create(
            spec.topic, properties, spec.guarantee, *buffer, counters.java
        )
    else:
        ids = (spec.transactions.prefix, spec.transactions.job)
        writer = java.KafkaWriter.createTransactional(
            spec.topic, properties, *ids, *buffer, counters.java
        )
    writer = writer.withMetadata(spec.headers, spec.timestamp, spec.partition)
    if spec.topics >= 0:
        writer = writer.withTopics(spec.topics, bridge.java_map(spec.reading))
    writer = writer.withPartitions(spec.partitions).withSendTime(counters.sending.java)
    return writer.withCheckpoint(str(checkpoint))
