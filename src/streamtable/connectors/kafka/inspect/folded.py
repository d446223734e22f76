"""An upsert topic folded to its table: the last value of every key, without deleted keys."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

from confluent_kafka import (
    Consumer,
    IsolationLevel,
    KafkaError,
    KafkaException,
    Message,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient, OffsetSpec

from streamtable.connectors.kafka.inspect.decode import decoder_of
from streamtable.connectors.kafka.table import KafkaTable
from streamtable.core.errors import Condition, StreamtableError

_TIMEOUT_S = 15.0
_BATCH = 10_000


class FoldedTopic:
    """Reads an upsert topic from its beginning and folds its records.

    Attributes:
        rows: values of the key columns, in the key's order -> all columns by name.
        records: the number of records read, including tombstones.
        tombstones: the number of tombstones that deleted a key.
    """

    def __init__(self, table: KafkaTable) -> None:
        if table.key is None:
            message = f"{table.table} has no key to fold by"
            raise ValueError(message)
        self._key = decoder_of(table.key)
        self._value = decoder_of(table.value)
        self._key_columns = [c.name for c in table.key.columns]
        self._table = table
        self._topic = table.topics[0]
        self.rows: dict[tuple[Any, ...], Mapping[str, Any]] = {}
        self.records = 0
        self.tombstones = 0
        # On a connection of its own: a request of the consumer waits for the answer to its fetch,
        # which comes after half a second if there are no records.
        self._admin = AdminClient({"bootstrap.servers": table.servers})
        self._consumer = Consumer(
            {
                "bootstrap.servers": table.servers,
                "group.id": f"streamtable-inspect-{uuid.uuid4()}",
                "enable.auto.commit": False,
                "auto.offset.reset": "earliest",
            }
        )
        self._consumer.assign([TopicPartition(self._topic, p, 0) for p in self._partitions()])

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._consumer.close()

    def poll(self, seconds: float) -> int:
        """Read the records that are there, or wait for the next ones; return their number.

        Args:
            seconds: timeout.
        """
        first = self._consumer.poll(seconds)
        if first is None:
            return 0
        messages = [first, *self._consumer.consume(_BATCH, timeout=0)]
        for message in messages:
            self._take(message)
        return len(messages)

    def catch_up(self) -> None:
        """Read up to the current end of the topic."""
        ends = self._ends()
        while any(position < ends[p] for p, position in self._positions().items()):
            self.poll(0.2)

    def _take(self, message: Message) -> None:
        error = message.error()
        if error is not None:
            if error.code() == KafkaError._PARTITION_EOF:  # noqa: SLF001 - its only name
                return
            raise KafkaException(error)
        key, value = message.key(), message.value()
        if not isinstance(key, bytes):
            return
        self.records += 1
        columns = self._key(key)
        row_key = tuple(columns[name] for name in self._key_columns)
        if value is None:
            self.tombstones += 1
            self.rows.pop(row_key, None)
        else:
            self.rows[row_key] = {**columns, **self._value(value)}

    def _partitions(self) -> list[int]:
        found = self._admin.list_topics(self._topic, timeout=_TIMEOUT_S).topics[self._topic]
        if found.error is not None:
            raise StreamtableError(
                Condition.TOPIC_MISSING,
                topic=self._topic,
                table=self._table.table,
                servers=self._table.servers,
            )
        return sorted(found.partitions)

    def _ends(self) -> dict[int, int]:
        """Return the ends of committed records: partition -> offset."""
        places = {TopicPartition(self._topic, p): OffsetSpec.latest() for p in self._partitions()}  # type: ignore[no-untyped-call]
        asked = self._admin.list_offsets(
            places, isolation_level=IsolationLevel.READ_COMMITTED, request_timeout=_TIMEOUT_S
        )
        return {place.partition: future.result().offset for place, future in asked.items()}

    def _positions(self) -> dict[int, int]:
        where = self._consumer.position(self._consumer.assignment())
        return {p.partition: max(p.offset, 0) for p in where}
