"""Options of the `kafka` connector, and those that `upsert-kafka` shares with it.

Sources: Flink's *Apache Kafka SQL Connector* and *Upsert Kafka* pages, the Alibaba page of the same
name. Defaults are theirs.
"""

from __future__ import annotations

from datetime import timedelta
from enum import Enum
from typing import Any

from streamtable.connectors.kafka import apsaramq, rules
from streamtable.core.options import BOOLEAN, DURATION, NAMES, TEXT, Option, choice, integer


class StartupMode(Enum):
    """Where a scan begins."""

    EARLIEST = "earliest-offset"
    LATEST = "latest-offset"
    GROUP = "group-offsets"
    TIMESTAMP = "timestamp"
    SPECIFIC = "specific-offsets"


class BoundedMode(Enum):
    """Where a scan ends."""

    UNBOUNDED = "unbounded"
    LATEST = "latest-offset"
    GROUP = "group-offsets"
    TIMESTAMP = "timestamp"
    SPECIFIC = "specific-offsets"


class ValueFields(Enum):
    """Whether key columns also stand in the value."""

    ALL = "ALL"
    EXCEPT_KEY = "EXCEPT_KEY"


class DeliveryGuarantee(Enum):
    """What the sink promises."""

    NONE = "none"
    AT_LEAST_ONCE = "at-least-once"
    EXACTLY_ONCE = "exactly-once"


class KeyCheck(Enum):
    """What happens where a sink's topic has keys that the table would not write."""

    FAIL = "fail"
    WARN = "warn"
    OFF = "off"


CONNECTOR = Option("connector", TEXT, doc="`kafka` or `upsert-kafka`.", required=True)
TOPIC = Option(
    "topic", NAMES, doc="Topic to read from or write to; a source takes several, split by `;`."
)
TOPIC_PATTERN = Option(
    "topic-pattern", TEXT, doc="Java regular expression of topics to read, new ones included."
)
BOOTSTRAP_SERVERS = Option(
    "properties.bootstrap.servers", TEXT, doc="Comma-separated `host:port` list.", required=True
)
GROUP_ID = Option(
    "properties.group.id", TEXT, doc="Consumer group whose offsets `group-offsets` starts from."
)
FORMAT = Option("format", TEXT, doc="Format of the value; the same as `value.format`.")
KEY_FORMAT = Option("key.format", TEXT, doc="Format of the key.")
KEY_FIELDS = Option(
    "key.fields", NAMES, default=(), doc="Columns that make up the key, split by `;`."
)
KEY_PREFIX = Option(
    "key.fields-prefix",
    TEXT,
    default="",
    doc="Prefix of key columns in the table that the key format does not see.",
)
VALUE_FORMAT = Option("value.format", TEXT, doc="Format of the value.")
VALUE_FIELDS = Option(
    "value.fields-include",
    choice(ValueFields),
    default=ValueFields.ALL,
    doc="Whether key columns also stand in the value.",
)
STARTUP_MODE = Option(
    "scan.startup.mode",
    choice(StartupMode),
    default=StartupMode.GROUP,
    doc="Where a scan begins; a group without commits begins at the latest offset.",
)
STARTUP_TIMESTAMP = Option(
    "scan.startup.timestamp-millis",
    integer(minimum=0),
    doc="Epoch milliseconds for the mode `timestamp`.",
)
STARTUP_OFFSETS = Option(
    "scan.startup.specific-offsets",
    TEXT,
    doc="`partition:0,offset:42;partition:1,offset:300` for the mode `specific-offsets`.",
)
BOUNDED_MODE = Option(
    "scan.bounded.mode",
    choice(BoundedMode),
    default=BoundedMode.UNBOUNDED,
    doc="Where a scan ends; a job whose scans all end does so too.",
)
BOUNDED_TIMESTAMP = Option(
    "scan.bounded.timestamp-millis",
    integer(minimum=0),
    doc="Epoch milliseconds for the bounded mode `timestamp`.",
)
BOUNDED_OFFSETS = Option(
    "scan.bounded.specific-offsets",
    TEXT,
    doc="End offsets, exclusive, for `specific-offsets`; one that is not there yet is waited for,"
    " unless the run is `--bounded`. Other partitions are read up to what the group has committed.",
)
DISCOVERY_INTERVAL = Option(
    "scan.topic-partition-discovery.interval",
    DURATION,
    default=timedelta(minutes=5),
    doc="How often new topics and partitions are looked for at least; every batch looks.",
)
SCAN_PARALLELISM = Option(
    "scan.parallelism",
    integer(minimum=1),
    doc="Tasks that read; a partition is read by one, so more than partitions changes nothing.",
)
FAIL_ON_DATA_LOSS = Option(
    "scan.fail-on-data-loss",
    BOOLEAN,
    default=True,
    doc="Whether records that are gone before they were read end the job. Ours.",
)
DEAD_LETTER_TOPIC = Option(
    "scan.dead-letter.topic",
    TEXT,
    doc="Topic that keeps records which do not parse, with their headers and more. Ours.",
)
PARTITIONER = Option(
    "sink.partitioner",
    TEXT,
    default="default",
    doc="`default`, `fixed`, `round-robin`, a Java class (Kafka's `Partitioner`) or a Python"
    " function `module:function` of (key, value, partitions).",
)
SINK_PARALLELISM = Option(
    "sink.parallelism",
    integer(minimum=1),
    doc="Tasks that write at most; fewer where the query has fewer.",
)
TOPIC_PARTITIONS = Option(
    "sink.topic.partitions",
    integer(minimum=1),
    doc="Partitions of the topic where the job creates it. Default: the brokers'. Ours.",
)
TOPIC_REPLICATION = Option(
    "sink.topic.replication-factor",
    integer(minimum=1),
    doc="Its replicas. Default: the brokers'. Ours.",
)
#: Configuration of a topic that the job creates, as `sink.topic.config.retention.ms`.
TOPIC_CONFIG = "sink.topic.config."
FLUSH_ROWS = Option(
    "sink.buffer-flush.max-rows",
    integer(minimum=0),
    default=0,
    doc="Rows a sink task may hold, the last one per key, before it flushes; 0 turns it off.",
)
FLUSH_INTERVAL = Option(
    "sink.buffer-flush.interval",
    DURATION,
    default=timedelta(0),
    doc="Longest time a row waits in the sink's buffer; 0 turns it off.",
)
KEY_CHECK = Option(
    "sink.key-check",
    choice(KeyCheck),
    default=KeyCheck.FAIL,
    doc="What happens where the topic has keys that the table would not write. Ours.",
)
DELIVERY = Option(
    "sink.delivery-guarantee",
    choice(DeliveryGuarantee),
    default=DeliveryGuarantee.AT_LEAST_ONCE,
    doc="What the sink promises: `none`, `at-least-once` or `exactly-once`.",
)
TRANSACTION_PREFIX = Option(
    "sink.transactional-id-prefix",
    TEXT,
    doc="Prefix of the transactional ids of `exactly-once`; no other job may use it.",
)
ADD_TABLE_ID = Option(
    "sink.add-tableId-to-header-enabled",
    BOOLEAN,
    default=False,
    doc="Whether namespace, schema and table name go into the headers.",
    not_yet="it comes with YAML ingestion",
)

NAMING = Option(
    "sink.transaction-naming-strategy",
    TEXT,
    doc="How transactional ids are named.",
    not_yet="ids are named after tasks, which take up their own again; leave it out",
)

#: Keys that both connectors know, in the order in which help shows them.
SHARED: tuple[Option[Any], ...] = (
    CONNECTOR,
    TOPIC,
    TOPIC_PATTERN,
    BOOTSTRAP_SERVERS,
    GROUP_ID,
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

#: Keys of `kafka` alone.
KAFKA_ONLY: tuple[Option[Any], ...] = (
    KEY_FIELDS,
    STARTUP_MODE,
    STARTUP_TIMESTAMP,
    STARTUP_OFFSETS,
    PARTITIONER,
)

#: Keys of `upsert-kafka` alone.
UPSERT_ONLY: tuple[Option[Any], ...] = (FLUSH_ROWS, FLUSH_INTERVAL, KEY_CHECK, ADD_TABLE_ID)

RULES = (
    rules.one_of(TOPIC, TOPIC_PATTERN),
    rules.one_of(VALUE_FORMAT, FORMAT),
    rules.client_properties_are_free,
    rules.only_with(BOUNDED_TIMESTAMP, BOUNDED_MODE, BoundedMode.TIMESTAMP),
    rules.only_with(BOUNDED_OFFSETS, BOUNDED_MODE, BoundedMode.SPECIFIC),
    rules.one_topic(BOUNDED_OFFSETS, TOPIC),
    rules.stays_on(DISCOVERY_INTERVAL),
    rules.skips_or_keeps(DEAD_LETTER_TOPIC),
    rules.another_topic(DEAD_LETTER_TOPIC, TOPIC),
    rules.only_with(TRANSACTION_PREFIX, DELIVERY, DeliveryGuarantee.EXACTLY_ONCE),
    apsaramq.complete,
)
