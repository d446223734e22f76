"""Which connectors exist: name -> options and factory; the catalog gets this as an argument."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from streamtable.connectors.kafka import factory as kafka
from streamtable.connectors.kafka.table import KafkaTable
from streamtable.connectors.upsert_kafka import factory as upsert_kafka
from streamtable.core.errors import Span
from streamtable.core.options import Given, OptionSet
from streamtable.core.table import Schema


@dataclass(frozen=True)
class ConnectorFactory:
    """How a connector's tables come to be."""

    options: OptionSet
    create: Callable[[str, Schema, Mapping[str, Given], Span | None], KafkaTable]


CONNECTORS: Mapping[str, ConnectorFactory] = {
    "kafka": ConnectorFactory(kafka.OPTIONS, kafka.create),
    "upsert-kafka": ConnectorFactory(upsert_kafka.OPTIONS, upsert_kafka.create),
}
