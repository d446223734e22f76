"""The newest records of a sink topic as rows with their row kinds."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from streamtable.connector_api.tail import ChangeRow, Tail
from streamtable.connectors.kafka.cluster.faults import kafka_fault
from streamtable.connectors.kafka.inspect.decode import Decode, decoder_of
from streamtable.connectors.kafka.read.changes import ChangeSide
from streamtable.connectors.kafka.table import KafkaTable
from streamtable.jvm.bridge import Bridge
from streamtable.jvm.faults import JavaError

#: Decodes a change event into row kinds and rows.
_Changes = Callable[[bytes], list[tuple[str, Mapping[str, Any]]]]

_UNREADABLE = "(the record cannot be read)"


class KafkaTail(Tail):
    """The newest records of a table's topic, read by the Java client with the table's settings.

    Args:
        table: the sink table.
        records: the number of records of a poll.
        bridge: the JVM side.

    Raises:
        StreamtableError: NOT_YET for a format that cannot be shown; an error of the brokers.
    """

    def __init__(self, table: KafkaTable, records: int, bridge: Bridge) -> None:
        self._key = None if table.key is None else decoder_of(table.key)
        self._value = _value_decoder(table)
        self._of_null = _null_row(table)
        self._upserts = table.is_upsert
        self._servers = table.properties["bootstrap.servers"]
        properties = bridge.java_map(table.properties)
        make = bridge.java.kafka.read.TopicTail
        self._java = self._asked(lambda: make(properties, table.topics[0], records))

    def poll(self) -> Sequence[ChangeRow]:
        """Return the rows of the records since the last call."""
        rows: list[ChangeRow] = []
        for line in str(self._asked(self._java.poll)).splitlines():
            time_ms, key, value = line.split("\t")
            changes = self._changes(_bytes(key), _bytes(value))
            rows += [ChangeRow(kind, columns, int(time_ms)) for kind, columns in changes]
        return rows

    def close(self) -> None:
        """Close the consumer."""
        self._java.close()

    def _changes(
        self, key: bytes | None, value: bytes | None
    ) -> list[tuple[str, Mapping[str, Any]]]:
        try:
            columns = {} if key is None or self._key is None else self._key(key)
            if value is None and self._upserts:
                return [("-D", columns)]
            changes = self._of_null if value is None else self._value(value)
        except Exception:
            return [("", {_UNREADABLE: None})]
        kind = "+U" if self._upserts else None
        return [(kind or found, {**columns, **row}) for found, row in changes]

    def _asked(self, call: Callable[[], Any]) -> Any:
        try:
            return call()
        except JavaError as error:
            raise kafka_fault(error, self._servers) from error


def _bytes(text: str) -> bytes | None:
    return None if text == "-" else base64.b64decode(text)


def _value_decoder(table: KafkaTable) -> _Changes:
    side = table.value
    events = _EVENTS.get(side.format.identifier) if isinstance(side, ChangeSide) else None
    if events is not None:
        return events
    decode: Decode = decoder_of(side)
    return lambda value: [("+I", decode(value))]


def _null_row(table: KafkaTable) -> list[tuple[str, Mapping[str, Any]]]:
    """Return the row of a null value: raw reads it as NULL, other formats as no row."""
    side = table.value
    if side.format.identifier != "raw":
        return []
    return [("+I", {side.prefix + field.name: None for field in side.fields})]


def _debezium(value: bytes) -> list[tuple[str, Mapping[str, Any]]]:
    found = json.loads(value)
    event = found.get("payload", found) if "op" not in found else found
    return _images(event, {"u": ("-U", "+U"), "d": ("-D", "")}.get(event["op"]))


def _ogg(value: bytes) -> list[tuple[str, Mapping[str, Any]]]:
    event = json.loads(value)
    return _images(event, {"U": ("-U", "+U"), "D": ("-D", "")}.get(event["op_type"]))


def _images(
    event: Mapping[str, Any], kinds: tuple[str, str] | None
) -> list[tuple[str, Mapping[str, Any]]]:
    """Return the rows before and after a change; without kinds, the event inserts the latter."""
    rows = zip(kinds or ("", "+I"), (event.get("before"), event.get("after")), strict=True)
    return [(kind, row) for kind, row in rows if kind and row is not None]


def _canal(value: bytes) -> list[tuple[str, Mapping[str, Any]]]:
    event = json.loads(value)
    kind = {"DELETE": "-D", "UPDATE": "+U"}.get(event["type"], "+I")
    return [(kind, row) for row in event["data"]]


def _maxwell(value: bytes) -> list[tuple[str, Mapping[str, Any]]]:
    event = json.loads(value)
    kind = {"delete": "-D", "update": "+U"}.get(event["type"], "+I")
    return [(kind, event["data"])]


_EVENTS: Mapping[str, _Changes] = {
    "debezium-json": _debezium,
    "canal-json": _canal,
    "maxwell-json": _maxwell,
    "ogg-json": _ogg,
}
