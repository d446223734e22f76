"""Convert the options of a table into the fields of a `KafkaTable`."""

from __future__ import annotations

import re
from typing import TypedDict

from streamtable.connectors.kafka.options import apsaramq
from streamtable.connectors.kafka.options.options import (
    BOOTSTRAP_SERVERS,
    BOUNDED_MODE,
    BOUNDED_OFFSETS,
    BOUNDED_TIMESTAMP,
    CLIENT_ID_PREFIX,
    COMMIT_OFFSETS,
    DEAD_LETTER_TOPIC,
    DELIVERY,
    DISCOVERY_INTERVAL,
    FAIL_ON_DATA_LOSS,
    GROUP_ID,
    SCAN_PARALLELISM,
    SINK_PARALLELISM,
    STARTUP_MODE,
    STARTUP_OFFSETS,
    STARTUP_TIMESTAMP,
    TOPIC,
    TOPIC_CONFIG,
    TOPIC_PARTITIONS,
    TOPIC_PATTERN,
    TOPIC_REPLICATION,
    TRANSACTION_PREFIX,
    BoundedMode,
    DeliveryGuarantee,
    StartupMode,
)
from streamtable.connectors.kafka.options.values import Bound, Discovery, NewTopic, Startup
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.options import Option, Settings

#: Prefix of Kafka's classes in the jar `flink-sql-connector-kafka`.
_SHADED = "org.apache.flink.kafka.shaded."


def _client_properties(settings: Settings) -> dict[str, str]:
    """Return `properties.*` without the prefix, including declared properties.

    Values name Kafka's classes by their own names, as Spark's clients need them.
    """
    own = {"bootstrap.servers": settings[BOOTSTRAP_SERVERS]}
    if group := settings.get(GROUP_ID):
        own["group.id"] = group
    if prefix := settings.get(CLIENT_ID_PREFIX):
        own["client.id"] = prefix
    cloud = (
        apsaramq.client_defaults(own["bootstrap.servers"]) if apsaramq.instance(settings) else {}
    )
    given = {key: value.replace(_SHADED, "") for key, value in settings.passthrough.items()}
    return {**cloud, **given, **own}


def read_startup(settings: Settings) -> Startup:
    """Read the startup options of the `kafka` connector."""
    mode = settings[STARTUP_MODE]
    return Startup(
        mode=mode,
        explicit=settings.has(STARTUP_MODE),
        timestamp_ms=settings.get(STARTUP_TIMESTAMP) if mode is StartupMode.TIMESTAMP else None,
        offsets=_offsets(settings, STARTUP_OFFSETS) if mode is StartupMode.SPECIFIC else {},
    )


class SharedFields(TypedDict):
    """Fields of `KafkaTable` that both connectors read in the same way."""

    topics: tuple[str, ...]
    properties: dict[str, str]
    commits_offsets: bool
    delivery: DeliveryGuarantee
    transaction_prefix: str | None
    dead_letter_topic: str | None
    discovery: Discovery
    bound: Bound | None
    scan_tasks: int | None
    fail_on_data_loss: bool
    sink_tasks: int | None
    new_topic: NewTopic
    instance: apsaramq.Instance | None


def shared_fields(settings: Settings) -> SharedFields:
    """Read the options that do not depend on the connector."""
    given = settings.has(DISCOVERY_INTERVAL)
    return SharedFields(
        topics=settings.get(TOPIC) or (),
        properties=_client_properties(settings),
        commits_offsets=settings[COMMIT_OFFSETS],
        delivery=settings[DELIVERY],
        transaction_prefix=settings.get(TRANSACTION_PREFIX),
        dead_letter_topic=settings.get(DEAD_LETTER_TOPIC),
        discovery=Discovery(
            settings.get(TOPIC_PATTERN), settings[DISCOVERY_INTERVAL] if given else None
        ),
        bound=_read_bound(settings),
        scan_tasks=settings.get(SCAN_PARALLELISM),
        fail_on_data_loss=settings[FAIL_ON_DATA_LOSS],
        sink_tasks=settings.get(SINK_PARALLELISM),
        new_topic=NewTopic(
            settings.get(TOPIC_PARTITIONS),
            settings.get(TOPIC_REPLICATION),
            settings.family(TOPIC_CONFIG),
        ),
        instance=apsaramq.instance(settings),
    )


def _read_bound(settings: Settings) -> Bound | None:
    mode = settings[BOUNDED_MODE]
    if mode is BoundedMode.UNBOUNDED:
        return None
    return Bound(
        mode=mode,
        timestamp_ms=settings.get(BOUNDED_TIMESTAMP) if mode is BoundedMode.TIMESTAMP else None,
        offsets=_offsets(settings, BOUNDED_OFFSETS) if mode is BoundedMode.SPECIFIC else {},
    )


def _offsets(settings: Settings, option: Option[str]) -> dict[int, int]:
    """Parse Flink's `partition:0,offset:42;partition:1,offset:300` into {0: 42, 1: 300}."""
    text = settings[option]
    entry = r"\s*partition\s*:\s*(\d+)\s*,\s*offset\s*:\s*(\d+)\s*"
    if not re.fullmatch(f"{entry}(;{entry})*;?", text):
        raise StreamtableError(
            Condition.INVALID_OPTION,
            at=settings.at(option),
            option=option.key,
            value=text,
            expected="of the form 'partition:0,offset:42;partition:1,offset:300'",
        )
    return {int(partition): int(offset) for partition, offset in re.findall(entry, text)}
