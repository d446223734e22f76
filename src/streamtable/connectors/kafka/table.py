"""`KafkaTable`: a Kafka table with checked options, for the planner, source and sink."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from streamtable.connector_api.dataset import Dataset
from streamtable.connector_api.together import CommonWriter
from streamtable.connectors.kafka.options import apsaramq
from streamtable.connectors.kafka.options.options import DeliveryGuarantee, KeyCheck
from streamtable.connectors.kafka.options.sides import Side
from streamtable.connectors.kafka.options.values import (
    Bound,
    Buffer,
    Discovery,
    NewTopic,
    Range,
    Startup,
    addresses,
)
from streamtable.connectors.kafka.read.changes import event_metadata
from streamtable.connectors.kafka.read.metadata import METADATA
from streamtable.core.changelog import ChangelogMode
from streamtable.core.errors import Condition, Span, StreamtableError
from streamtable.core.table import Schema
from streamtable.core.types import DataType

if TYPE_CHECKING:
    from streamtable.connectors.kafka.sink import KafkaSink
    from streamtable.connectors.kafka.source import KafkaSource


@dataclass(frozen=True, kw_only=True)
class KafkaTable:
    """A table over topics, for either connector.

    Attributes:
        name: the connector's name.
        table: the table's name, for messages.
        properties: Kafka client settings without the prefix, including `bootstrap.servers`.
        key: the key's columns and format; None if records are written without a key and read
            without decoding it.
        commits_offsets: whether a job commits its progress to the consumer group, if there is one.
        reads: row kinds of a scan.
        writes: row kinds that the sink accepts.
        transaction_prefix: the prefix of transactional ids; not None if delivery is exactly-once.
        key_check: the reaction of a sink to different keys in its topic.
        topics: names of the topics; empty if `discovery` has a pattern.
        bound: the end of the scan; None if the scan is unbounded.
        range: the records to read, of a scan that repeats an earlier one; else None.
        scan_tasks: the highest number of reading tasks; None for one per partition.
        fail_on_data_loss: whether the job fails if unread records were deleted.
        partitioner: `sink.partitioner` as in the script.
        sink_tasks: the highest number of writing tasks; None for the query's parallelism.
        new_topic: the settings of a sink topic that the job creates.
        dead_letter_topic: the topic of records that do not parse; None if such a record fails the
            job.
        instance: the ApsaraMQ instance with the topics, if any.
        at: the position of the table's declaration.
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
    commits_offsets: bool = True
    delivery: DeliveryGuarantee = DeliveryGuarantee.AT_LEAST_ONCE
    transaction_prefix: str | None = None
    buffer: Buffer = field(default_factory=Buffer)
    key_check: KeyCheck = KeyCheck.OFF
    dead_letter_topic: str | None = None
    discovery: Discovery = field(default_factory=Discovery)
    bound: Bound | None = None
    range: Range | None = None
    scan_tasks: int | None = None
    fail_on_data_loss: bool = True
    partitioner: str = "default"
    sink_tasks: int | None = None
    new_topic: NewTopic = field(default_factory=NewTopic)
    instance: apsaramq.Instance | None = None
    at: Span | None = None

    @property
    def is_upsert(self) -> bool:
        """Whether a record replaces the earlier one of its key, and a null deletes it."""
        return not self.reads.is_append and not self.reads.has_before

    @property
    def append_connector(self) -> str | None:
        """`kafka`, whose tables keep all records, for an upsert table."""
        return "kafka" if self.is_upsert else None

    @property
    def servers(self) -> str:
        """`bootstrap.servers`, for messages."""
        return self.properties["bootstrap.servers"]

    @property
    def group_id(self) -> str | None:
        """The consumer group, if the script names one."""
        return self.properties.get("group.id")

    @property
    def reads_committed(self) -> bool:
        """Whether a scan stops before open transactions and omits aborted ones."""
        return self.properties.get("isolation.level") == "read_committed"

    @property
    def writable_metadata(self) -> tuple[str, ...]:
        """The metadata keys that an INSERT may set."""
        return tuple(key.key for key in METADATA.values() if key.writable)

    def metadata_type(self, key: str) -> DataType:
        """Return the type of a metadata key of the connector or of the value's format."""
        of_format = event_metadata(self.value)
        return of_format[key] if key in of_format else METADATA[key].type

    def check_source(self) -> None:
        """Accept every table: all tables over topics can be read."""

    def check_sink(self) -> None:
        """Check that the formats can write key and value, and that the table has one topic.

        Raises:
            StreamtableError: OPTION_CONFLICT if there are several topics; OPTION_NOT_SETTABLE,
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
        """Return a short text with connector, topics and formats."""
        key = f"{self.key.format.identifier} -> " if self.key else ""
        return f"{self.name}, {self.topics_text}, {key}{self.value.format.identifier}"

    @property
    def topics_text(self) -> str:
        """The topics or the topic pattern, for plans and messages."""
        return self.discovery.pattern or ";".join(self.topics)

    @property
    def place(self) -> str:
        """What tells a single topic from topics of other clusters, as far as addresses show."""
        return f"{addresses(self.servers)}/{self.topics_text}"

    def datasets(self) -> Sequence[Dataset]:
        """Return the topics at the first address; a topic pattern is one dataset."""
        namespace = f"kafka://{self.servers.split(',')[0].strip()}"
        names = self.topics or (self.topics_text,)
        return tuple(Dataset(namespace, name) for name in names)

    @property
    def _sides(self) -> Mapping[str, Side]:
        return {"key": self.key, "value": self.value} if self.key else {"value": self.value}

    def row_options(self, *, written: bool) -> Mapping[str, str]:
        """Return the options of both formats on which rows depend."""
        return {
            f"{name}.{key}": value
            for name, side in self._sides.items()
            for key, value in side.row_options(written=written).items()
        }

    def fingerprint(self) -> dict[str, object]:
        """Return topics, layout and formats; addresses and client settings may change."""
        sides = {
            name: {
                "format": side.format.identifier,
                "columns": [f"{c.name} {c.type}" for c in side.columns],
                "prefix": side.prefix,
            }
            for name, side in self._sides.items()
        }
        pattern = self.discovery.pattern
        by_pattern = {"pattern": pattern} if pattern else {}
        return {"connector": self.name, "topics": list(self.topics), **by_pattern, **sides}

    @property
    def common_writer(self) -> CommonWriter | None:
        """Return what tables have in common that one query writes: the delivery guarantee.

        In one transaction, the producer is the same, too. `sink.parallelism` and a partitioner in
        Python add steps between the query and the writer, so such a table has its own query.
        """
        if self.sink_tasks is not None or ":" in self.partitioner:
            return None
        if self.transaction_prefix is None:
            return CommonWriter("kafka", exactly_once=False, settings=self.delivery)
        producer = (*sorted(self.producer_properties().items()), self.partitioner)
        return CommonWriter("kafka", exactly_once=True, settings=producer)

    @property
    def writer_id(self) -> str | None:
        """The prefix of transactional ids."""
        return self.transaction_prefix

    def source(self) -> KafkaSource:
        """Return the source of the table."""
        from streamtable.connectors.kafka.source import KafkaSource  # a plan needs no Spark

        return KafkaSource(self)

    def sink(self) -> KafkaSink:
        """Return the sink of the table."""
        from streamtable.connectors.kafka.sink import KafkaSink

        return KafkaSink(self)

    def producer_properties(self) -> dict[str, str]:
        """Return the client settings without those that apply to consumers only.

        A producer has one request in flight, unless the script sets another number. With several
        requests in flight, a broker that has just started can refuse the first request and accept
        the next one. The broker then refuses the first request permanently, because it has already
        seen a later sequence number of the producer (KAFKA-14359).
        """
        consumer_only = ("group.id", "auto.offset.reset", "isolation.level")
        own = {k: v for k, v in self.properties.items() if k not in consumer_only}
        return {"max.in.flight.requests.per.connection": "1", **own}
