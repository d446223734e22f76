"""Options of the `kafka` connector, including those that `upsert-kafka` shares.

Sources: Flink's *Apache Kafka SQL Connector* and *Upsert Kafka* pages, and the Alibaba page of the
same name. The defaults are those of these pages.
"""

from __future__ import annotations

from datetime import timedelta
from enum import Enum
from typing import Any

from streamtable.connectors.kafka.options import apsaramq, rules
from streamtable.core.option_kinds import (
    BOOLEAN,
    DURATION,
    NAMES,
    NOT_EMPTY,
    TEXT,
    choice,
    integer,
    long_integer,
)
from streamtable.core.options import Option


class StartupMode(Enum):
    """Start position of a scan."""

    EARLIEST = "earliest-offset"
    LATEST = "latest-offset"
    GROUP = "group-offsets"
    TIMESTAMP = "timestamp"
    SPECIFIC = "specific-offsets"


class BoundedMode(Enum):
    """End position of a scan."""

    UNBOUNDED = "unbounded"
    LATEST = "latest-offset"
    GROUP = "group-offsets"
    TIMESTAMP = "timestamp"
    SPECIFIC = "specific-offsets"


class ValueFields(Enum):
    """Whether the value also contains the key columns."""

    ALL = "ALL"
    EXCEPT_KEY = "EXCEPT_KEY"


class DeliveryGuarantee(Enum):
    """Delivery guarantee of the sink."""

    NONE = "none"
    AT_LEAST_ONCE = "at-least-once"
    EXACTLY_ONCE = "exactly-once"


class KeyCheck(Enum):
    """Reaction to existing keys of a sink topic that the table would write differently."""

    FAIL = "fail"
    WARN = "warn"
    OFF = "off"


CONNECTOR = Option("connector", TEXT, doc="`kafka` or `upsert-kafka`.", required=True)
TOPIC = Option(
    "topic", NAMES, doc="Topic to read or write; a source accepts several topics, separated by `;`."
)
TOPIC_PATTERN = Option(
    "topic-pattern",
    NOT_EMPTY,
    doc="Java regular expression of the topics to read, including new topics.",
)
BOOTSTRAP_SERVERS = Option(
    "properties.bootstrap.servers", TEXT, doc="Comma-separated `host:port` list.", required=True
)
GROUP_ID = Option(
    "properties.group.id",
    TEXT,
    doc="Consumer group; `group-offsets` starts from its committed offsets.",
)
CLIENT_ID_PREFIX = Option(
    "properties.client.id.prefix",
    TEXT,
    doc="Client id of the Kafka clients of the table.",
)
COMMIT_OFFSETS = Option(
    "properties.commit.offsets.on.checkpoint",
    BOOLEAN,
    default=True,
    doc="Whether each checkpoint commits the offsets to the consumer group.",
)
FORMAT = Option("format", TEXT, doc="Format of the value; the same as `value.format`.")
KEY_FORMAT = Option("key.format", TEXT, doc="Format of the key.")
KEY_FIELDS = Option("key.fields", NAMES, default=(), doc="Key columns, separated by `;`.")
KEY_PREFIX = Option(
    "key.fields-prefix",
    TEXT,
    default="",
    doc="Prefix of key columns in the table. The key format uses the names without it.",
)
VALUE_FORMAT = Option("value.format", TEXT, doc="Format of the value.")
VALUE_FIELDS = Option(
    "value.fields-include",
    choice(ValueFields),
    default=ValueFields.ALL,
    doc="Whether the value also contains the key columns.",
)
STARTUP_MODE = Option(
    "scan.startup.mode",
    choice(StartupMode),
    default=StartupMode.GROUP,
    doc="Startup mode of a scan. With `group-offsets`, a partition whose committed offset is"
    " missing or deleted starts at `properties.auto.offset.reset`: `latest` (the default),"
    " `earliest`, or `none` to refuse the start.",
)
STARTUP_TIMESTAMP = Option(
    "scan.startup.timestamp-millis",
    long_integer(minimum=0),
    doc="Epoch milliseconds for the mode `timestamp`.",
    only_with=(STARTUP_MODE.key, StartupMode.TIMESTAMP.value),
)
STARTUP_OFFSETS = Option(
    "scan.startup.specific-offsets",
    TEXT,
    doc="`partition:0,offset:42;partition:1,offset:300` for the mode `specific-offsets`. Other"
    " partitions start at the group's committed offset. A partition that does not have"
    " its offset starts at the earliest offset.",
    only_with=(STARTUP_MODE.key, StartupMode.SPECIFIC.value),
)
BOUNDED_MODE = Option(
    "scan.bounded.mode",
    choice(BoundedMode),
    default=BoundedMode.UNBOUNDED,
    doc="End of a scan; a job ends when all its scans have ended. A job waits for an end that does"
    " not exist yet or is in an open transaction, unless the run is `--bounded`. A checkpoint keeps"
    " ends that are a group's committed offsets; each run determines other ends again.",
)
BOUNDED_TIMESTAMP = Option(
    "scan.bounded.timestamp-millis",
    long_integer(minimum=0),
    doc="Epoch milliseconds for the bounded mode `timestamp`.",
    only_with=(BOUNDED_MODE.key, BoundedMode.TIMESTAMP.value),
)
BOUNDED_OFFSETS = Option(
    "scan.bounded.specific-offsets",
    TEXT,
    doc="End offsets, exclusive, for `specific-offsets`. Other partitions are read up to the"
    " group's committed offset.",
    only_with=(BOUNDED_MODE.key, BoundedMode.SPECIFIC.value),
)
DISCOVERY_INTERVAL = Option(
    "scan.topic-partition-discovery.interval",
    DURATION,
    default=timedelta(minutes=5),
    doc="Maximum interval between discoveries of topics and partitions; every batch discovers"
    " them.",
)
SCAN_PARALLELISM = Option(
    "scan.parallelism",
    integer(minimum=1),
    doc="Maximum number of tasks that read; one task reads each partition.",
)
FAIL_ON_DATA_LOSS = Option(
    "scan.fail-on-data-loss",
    BOOLEAN,
    default=True,
    doc="Whether the job fails if unread records were deleted. Not in Flink.",
)
DEAD_LETTER_TOPIC = Option(
    "scan.dead-letter.topic",
    TEXT,
    doc="Topic for records that cannot be parsed, with additional headers. Not in Flink.",
)
PARTITIONER = Option(
    "sink.partitioner",
    NOT_EMPTY,
    default="default",
    doc="`default`, `fixed`, `round-robin`, a Java class (Kafka's `Partitioner`) or a Python"
    " function `module:function` of (key, value, partitions).",
)
SINK_PARALLELISM = Option(
    "sink.parallelism",
    integer(minimum=1),
    doc="Maximum number of tasks that write.",
)
TOPIC_PARTITIONS = Option(
    "sink.topic.partitions",
    integer(minimum=1),
    doc="Partitions of a topic that the job creates. Default: the brokers' setting. Not in Flink.",
)
TOPIC_REPLICATION = Option(
    "sink.topic.replication-factor",
    integer(minimum=1, maximum=2**15 - 1),
    doc="Replication factor of a topic that the job creates. Default: the brokers' setting. Not"
    " in Flink.",
)
#: Configuration of a topic that the job creates, such as `sink.topic.config.retention.ms`.
TOPIC_CONFIG = "sink.topic.config."
FLUSH_ROWS = Option(
    "sink.buffer-flush.max-rows",
    integer(minimum=0),
    default=0,
    doc="Maximum rows that a sink task buffers before a flush; it keeps the last row of each"
    " key. 0 disables the buffer.",
)
FLUSH_INTERVAL = Option(
    "sink.buffer-flush.interval",
    DURATION,
    default=timedelta(0),
    doc="Maximum time between flushes of the sink's buffer; 0 disables the buffer.",
)
KEY_CHECK = Option(
    "sink.key-check",
    choice(KeyCheck),
    default=KeyCheck.FAIL,
    doc="Behaviour if the topic holds keys that the table would not write. Not in Flink.",
)
DELIVERY = Option(
    "sink.delivery-guarantee",
    choice(DeliveryGuarantee),
    default=DeliveryGuarantee.AT_LEAST_ONCE,
    doc="Delivery guarantee: `none`, `at-least-once` or `exactly-once`.",
)
TRANSACTION_PREFIX = Option(
    "sink.transactional-id-prefix",
    TEXT,
    doc="Prefix of the transactional ids of `exactly-once`; no other job may use it.",
    only_with=(DELIVERY.key, DeliveryGuarantee.EXACTLY_ONCE.value),
)
ADD_TABLE_ID = Option(
    "sink.add-tableId-to-header-enabled",
    BOOLEAN,
    default=False,
    doc="Whether headers contain namespace, schema and table name.",
    not_yet="a data ingestion job writes these headers",
)

NAMING = Option(
    "sink.transaction-naming-strategy",
    TEXT,
    doc="Naming strategy of transactional ids.",
    not_yet="ids are derived from tasks; remove it",
)

#: Flink's other own options among the properties of the clients. Kafka does not know them.
WITHOUT_EFFECT = (
    Option(
        "properties.partition.discovery.interval.ms",
        TEXT,
        doc="Discovery interval of Flink's source.",
        no_effect=f"'{DISCOVERY_INTERVAL.key}' overrides it, as in Flink",
    ),
    *(
        Option(
            f"properties.{key}",
            TEXT,
            doc="Whether Flink reports the metrics of Kafka's clients.",
            no_effect="metrics of Kafka's clients are not reported",
        )
        for key in (
            "register.consumer.metrics",
            "register.producer.metrics",
            "flink.disable-metrics",
        )
    ),
)

#: Keys of both connectors, in the order of the help text.
SHARED: tuple[Option[Any], ...] = (
    CONNECTOR,
    TOPIC,
    TOPIC_PATTERN,
    BOOTSTRAP_SERVERS,
    GROUP_ID,
    CLIENT_ID_PREFIX,
    COMMIT_OFFSETS,
    *WITHOUT_EFFECT,
    FORMAT,
    KEY_FORMAT,
    KEY_PREFIX,
    VALUE_FORMAT,
    VALUE_FIELDS,
    BOUNDED_MODE,
    BOUNDED_TIMESTAMP,
    BOUNDED_OFFSETS,
    DISCOVERY_INTERVAL,
    SCAN_PARALLELISM,
    FAIL_ON_DATA_LOSS,
    DEAD_LETTER_TOPIC,
    SINK_PARALLELISM,
    TOPIC_PARTITIONS,
    TOPIC_REPLICATION,
    DELIVERY,
    TRANSACTION_PREFIX,
    NAMING,
    *apsaramq.OPTIONS,
)

#: Keys of `kafka` only.
KAFKA_ONLY: tuple[Option[Any], ...] = (
    KEY_FIELDS,
    STARTUP_MODE,
    STARTUP_TIMESTAMP,
    STARTUP_OFFSETS,
    PARTITIONER,
)

#: Keys of `upsert-kafka` only.
UPSERT_ONLY: tuple[Option[Any], ...] = (FLUSH_ROWS, FLUSH_INTERVAL, KEY_CHECK, ADD_TABLE_ID)

RULES = (
    rules.one_of(TOPIC, TOPIC_PATTERN),
    rules.client_properties_are_free,
    rules.required_with(BOUNDED_TIMESTAMP, BOUNDED_MODE, BoundedMode.TIMESTAMP),
    rules.required_with(BOUNDED_OFFSETS, BOUNDED_MODE, BoundedMode.SPECIFIC),
    rules.one_topic(BOUNDED_OFFSETS, BOUNDED_MODE, BoundedMode.SPECIFIC, TOPIC),
    rules.stays_on(DISCOVERY_INTERVAL),
    rules.skips_or_keeps(DEAD_LETTER_TOPIC),
    rules.another_topic(DEAD_LETTER_TOPIC, TOPIC, TOPIC_PATTERN),
    rules.required_with(TRANSACTION_PREFIX, DELIVERY, DeliveryGuarantee.EXACTLY_ONCE),
    apsaramq.complete,
)
