"""A table over Kafka topics after its options were checked: what the planner and both ends use."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from streamtable.connectors.kafka.changes import event_metadata
from streamtable.connectors.kafka.metadata import METADATA
from streamtable.connectors.kafka.options import (
    BOOTSTRAP_SERVERS,
    GROUP_ID,
    STARTUP_MODE,
    STARTUP_OFFSETS,
    STARTUP_TIMESTAMP,
    DeliveryGuarantee,
    KeyCheck,
    StartupMode,
)
from streamtable.connectors.kafka.sides import Side
from streamtable.core.changelog import ChangelogMode
from streamtable.core.errors import Condition, Span, StreamtableError
from streamtable.core.options import Settings, masked
from streamtable.core.table import Schema
from streamtable.core.types import DataType


@dataclass(frozen=True)
class Startup:
    """Where a scan begins.

    Attributes:
        explicit: whether the script says so itself; a bounded run of a script that leaves it open
            falls back to the earliest offset.
        timestamp_ms: epoch milliseconds of the mode `timestamp`.
        offsets: partition -> offset of the mode `specific-offsets`, inclusive.
    """

    mode: StartupMode
    explicit: bool = False
    timestamp_ms: int | None = None
    offsets: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Buffer:
    """The sink's reducing buffer; off unless both are above zero."""

    max_rows: int = 0
    interval: timedelta = timedelta(0)


@dataclass(frozen=True, kw_only=True)
class KafkaTable:
    """A table over topics, for either connector.

    Attributes:
        name: the connector's name.
        table: the table's name, for messages.
        properties: Kafka client settings, `bootstrap.servers` included, prefix removed.
        key: None where records are written without a key and read without looking at it.
        reads: row kinds of a scan.
        writes: row kinds the sink takes.
        transaction_prefix: of the transactional ids; not None where delivery is exactly-once.
        key_check: whether a sink looks at the keys that its topic has already.
        dead_letter_topic: where records go that do not parse; None lets them end the job.
        at: where the table is declared.
    """

    name: str
    table: str
    topics: tuple[str, ...]
    properties: Mapping[str, str]
    schema: Schema
    key: Side | None
    value: Side
    startup: Startup
    reads: ChangelogMode
    writes: ChangelogMode
    delivery: DeliveryGuarantee = DeliveryGuarantee.AT_LEAST_ONCE
    transaction_prefix: str | None = None
    buffer: Buffer = Buffer()
    key_check: KeyCheck = KeyCheck.OFF
    dead_letter_topic: str | None = None
    at: Span | None = None

    @property
    def is_upsert(self) -> bool:
        """Whether a record replaces the earlier one of its key and null deletes it."""
        return not self.reads.is_append and not self.reads.has_before

    @property
    def servers(self) -> str:
        """`bootstrap.servers`, for messages."""
        return self.properties["bootstrap.servers"]

    @property
    def group_id(self) -> str | None:
        """The consumer group, where the script names one."""
        return self.properties.get("group.id")

    @property
    def writable_metadata(self) -> tuple[str, ...]:
        """Metadata keys that an INSERT may set."""
        return tuple(key.key for key in METADATA.values() if key.writable)

    def metadata_type(self, key: str) -> DataType:
        """The type of a metadata key, the connector's own or the value format's."""
        of_format = event_metadata(self.value)
        return of_format[key] if key in of_format else METADATA[key].type

    def check_sink(self) -> None:
        """Key and value can be written: their formats have what it takes.

        Raises:
            StreamtableError: OPTION_NOT_SETTABLE, MISSING_OPTION or UNSUPPORTED_TYPE of a format.
        """
        try:
            for side in (self.key, self.value):
                if side:
                    side.encoder()
        except StreamtableError as error:
            raise error if error.at else error.located(self.at) from None

    def describe(self) -> str:
        """Connector, topics and formats in a few words."""
        key = f"{self.key.format.identifier} -> " if self.key else ""
        return f"{self.name}, {';'.join(self.topics)}, {key}{self.value.format.identifier}"

    def fingerprint(self) -> dict[str, object]:
        """Topics, layout and formats; addresses and client tuning may change between runs."""
        sides = {
            name: {
                "format": side.format.identifier,
                "columns": [f"{c.name} {c.type}" for c in side.columns],
                "prefix": side.prefix,
            }
            for name, side in (("key", self.key), ("value", self.value))
            if side
        }
        return {"connector": self.name, "topics": list(self.topics), **sides}

    def producer_properties(self) -> dict[str, str]:
        """Client settings without those that mean something to consumers only."""
        consumer_only = ("group.id", "auto.offset.reset", "isolation.level")
        return {k: v for k, v in self.properties.items() if k not in consumer_only}

    def shown_properties(self) -> dict[str, str]:
        """Client settings with secrets masked."""
        return masked(self.properties)


def client_properties(settings: Settings) -> dict[str, str]:
    """`properties.*` without the prefix, the declared ones among them."""
    own = {"bootstrap.servers": settings[BOOTSTRAP_SERVERS]}
    if group := settings.get(GROUP_ID):
        own["group.id"] = group
    return {**settings.passthrough, **own}


def read_startup(settings: Settings) -> Startup:
    """The startup options of the `kafka` connector."""
    offsets = settings.get(STARTUP_OFFSETS)
    return Startup(
        mode=settings[STARTUP_MODE],
        explicit=settings.has(STARTUP_MODE),
        timestamp_ms=settings.get(STARTUP_TIMESTAMP),
        offsets=_specific_offsets(offsets, settings) if offsets else {},
    )


def _specific_offsets(text: str, settings: Settings) -> dict[int, int]:
    """`partition:0,offset:42;partition:1,offset:300` -> {0: 42, 1: 300} (Flink's syntax)."""
    entry = r"\s*partition\s*:\s*(\d+)\s*,\s*offset\s*:\s*(\d+)\s*"
    if not re.fullmatch(f"{entry}(;{entry})*;?", text):
        raise StreamtableError(
            Condition.INVALID_OPTION,
            at=settings.at(STARTUP_OFFSETS),
            option=STARTUP_OFFSETS.key,
            value=text,
            expected="of the form 'partition:0,offset:42;partition:1,offset:300'",
        )
    return {int(partition): int(offset) for partition, offset in re.findall(entry, text)}
