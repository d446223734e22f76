"""A table over Kafka topics after its options were checked: what the planner and both ends use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from streamtable.connectors.kafka import apsaramq
from streamtable.connectors.kafka.changes import event_metadata
from streamtable.connectors.kafka.metadata import METADATA
from streamtable.connectors.kafka.options import (
    BoundedMode,
    DeliveryGuarantee,
    KeyCheck,
    StartupMode,
)
from streamtable.connectors.kafka.sides import Side
from streamtable.core.changelog import ChangelogMode
from streamtable.core.errors import Condition, Span, StreamtableError
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
class Bound:
    """Where a scan ends.

    Attributes:
        timestamp_ms: epoch milliseconds of the mode `timestamp`: records as old are not read.
        offsets: partition -> offset of the mode `specific-offsets`, exclusive.
    """

    mode: BoundedMode
    timestamp_ms: int | None = None
    offsets: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Discovery:
    """What the script says of looking for new topics and partitions.

    Attributes:
        interval: how often at least; None where the script leaves it open.
    """

    pattern: str | None = None
    interval: timedelta | None = None


@dataclass(frozen=True)
class NewTopic:
    """How a sink's topic is made where it is not there; None is the brokers' default."""

    partitions: int | None = None
    replication: int | None = None
    configs: Mapping[str, str] = field(default_factory=dict)


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
        topics: by their names; none where `discovery` has a pattern for them.
        bound: None where the scan goes on for ever.
        scan_tasks: how many tasks read at most; None for one per partition.
        fail_on_data_loss: whether records that are gone unread end the job.
        partitioner: `sink.partitioner` as the script has it.
        sink_tasks: how many tasks write at most; None for as many as the query has.
        new_topic: how the sink's topic is made.
        dead_letter_topic: where records go that do not parse; None lets them end the job.
        instance: of ApsaraMQ, where the topics are there.
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
    discovery: Discovery = Discovery()
    bound: Bound | None = None
    scan_tasks: int | None = None
    fail_on_data_loss: bool = True
    partitioner: str = "default"
    sink_tasks: int | None = None
    new_topic: NewTopic = NewTopic()
    instance: apsaramq.Instance | None = None
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
        """Key and value can be written, by formats that have what it takes, and to one topic.

        Raises:
            StreamtableError: OPTION_CONFLICT where there are several topics; OPTION_NOT_SETTABLE,
                MISSING_OPTION or UNSUPPORTED_TYPE of a format.
        """
        if len(self.topics) != 1:
            raise StreamtableError(
                Condition.OPTION_CONFLICT,
                at=self.at,
                reason=f"{self.table} names {self.topics_text}, and a sink writes one topic",
                hint="declare a table with one 'topic' for the INSERT",
            )
        try:
            for side in (self.key, self.value):
                if side:
                    side.encoder()
        except StreamtableError as error:
            raise error if error.at else error.located(self.at) from None

    def describe(self) -> str:
        """Connector, topics and formats in a few words."""
        key = f"{self.key.format.identifier} -> " if self.key else ""
        return f"{self.name}, {self.topics_text}, {key}{self.value.format.identifier}"

    @property
    def topics_text(self) -> str:
        """The topics or the pattern of their names, for plans and messages."""
        return self.discovery.pattern or ";".join(self.topics)

    def reads_topic(self, topic: str) -> bool:
        """Whether a topic that a scan has met is one of this table's."""
        return self.discovery.pattern is not None or topic in self.topics

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
        pattern = self.discovery.pattern
        by_pattern = {"pattern": pattern} if pattern else {}
        return {"connector": self.name, "topics": list(self.topics), **by_pattern, **sides}

    def producer_properties(self) -> dict[str, str]:
        """Client settings without those that mean something to consumers only."""
        consumer_only = ("group.id", "auto.offset.reset", "isolation.level")
        return {k: v for k, v in self.properties.items() if k not in consumer_only}
