"""Obstacles to the rollback of a sink topic, and the configuration that a rollback needs."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from datetime import timedelta

from streamtable.connector_api.sink import SinkFacts
from streamtable.connectors.kafka.cluster.admin import KNOWN_WITHIN_MS, KafkaAdmin
from streamtable.connectors.kafka.options.options import DeliveryGuarantee
from streamtable.connectors.kafka.table import KafkaTable
from streamtable.core.checkpoint_path import CheckpointPath
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.settings.execution import ADJUST_SINKS
from streamtable.jvm.bridge import Bridge

#: The shortest time before compaction, in checkpoint intervals. It covers a restart and the
#: checkpoint interval in which the query stopped.
_SAFE_INTERVALS = 10

#: The shortest compaction lag of topics that a job creates.
_SAFE_AT_LEAST = timedelta(hours=1)

#: The key of the compaction lag in a topic's configuration.
LAG = "min.compaction.lag.ms"


def declared_obstacle(table: KafkaTable, facts: SinkFacts) -> str | None:
    """Return why a topic cannot be rolled back, judged by the script alone; else None."""
    if not table.is_upsert:
        return f"{table.table} keeps every record"
    if table.delivery is not DeliveryGuarantee.AT_LEAST_ONCE:
        return f"'sink.delivery-guarantee' is '{table.delivery.value}'"
    if table.partitioner != "default":
        return f"'sink.partitioner' is '{table.partitioner}'"
    if table.place in facts.targets.values():
        return f"another INSERT writes to topic '{table.topics[0]}'"
    return None


def obstacle_there(table: KafkaTable, facts: SinkFacts, bridge: Bridge) -> str | None:
    """Return why an existing topic cannot be rolled back, judged by checkpoint and brokers."""
    if is_shared(facts.positions):
        return shared_obstacle(table.topics[0])
    return _obstacle_of_topic(table, facts, bridge)


def _obstacle_of_topic(table: KafkaTable, facts: SinkFacts, bridge: Bridge) -> str | None:
    topic = table.topics[0]
    admin = KafkaAdmin(bridge, table.properties)
    found = admin.describe(topic, KNOWN_WITHIN_MS)
    if not _may_read(admin, topic):
        return f"the user lacks READ of topic '{topic}'"
    if "cleanup.policy" not in found:
        return f"the user lacks DESCRIBE_CONFIGS of topic '{topic}'"
    if "compact" not in found["cleanup.policy"]:
        return None
    if any(column.key == "timestamp" for column in table.schema.metadata if not column.virtual):
        return f"brokers compact by the timestamps that {table.table} writes"
    if not is_compacted_early(found, facts.interval):
        return None
    if not facts.adjusts:
        return (
            f"topic '{topic}' may be compacted too early: it needs 'min.compaction.lag.ms' ="
            f" '{_milliseconds(facts.interval * _SAFE_INTERVALS)}' or more;"
            f" '{ADJUST_SINKS.key}' = 'true' sets it"
        )
    return _refused_lag(admin, topic, facts)


def _may_read(admin: KafkaAdmin, topic: str) -> bool:
    try:
        admin.check_access(topic, "READ")
    except StreamtableError as error:
        if error.condition is not Condition.ACCESS_DENIED:
            raise
        return False
    return True


def _refused_lag(admin: KafkaAdmin, topic: str, facts: SinkFacts) -> str | None:
    """Return why the brokers would not raise the topic's compaction lag; None if they would."""
    try:
        admin.set_configs(topic, safe_lag(facts.interval), check_only=True)
    except StreamtableError as error:
        if error.condition is Condition.ACCESS_DENIED:
            return f"the user lacks ALTER_CONFIGS of topic '{topic}'"
        if error.condition is Condition.BROKER_FAILED:
            return f"the brokers refuse to change '{LAG}' of topic '{topic}': {error}"
        raise
    return None


def is_compacted_early(found: Mapping[str, str], interval: timedelta) -> bool:
    """Return whether compaction may remove the values of a checkpoint before a rollback."""
    compacted = "compact" in found.get("cleanup.policy", "")
    return compacted and lag_ms(found) < _milliseconds(interval * _SAFE_INTERVALS)


def shared_obstacle(topic: str) -> str:
    """Return the obstacle of a topic with other writers: rollback would change their records."""
    return f"topic '{topic}' has another writer"


def safe_lag(interval: timedelta) -> Mapping[str, str]:
    """Return the configuration of a topic that may be rolled back: `min.compaction.lag.ms`."""
    return {LAG: str(_milliseconds(max(_SAFE_AT_LEAST, interval * _SAFE_INTERVALS)))}


def _milliseconds(span: timedelta) -> int:
    return span // timedelta(milliseconds=1)


def is_shared(positions: CheckpointPath) -> bool:
    """Return whether a commit of the query has found another writer of the topic."""
    return (positions / "shared").exists()


def lag_ms(found: Mapping[str, str]) -> int:
    """Return the compaction lag of a described topic; 0 if the description has none."""
    with suppress(KeyError, ValueError):
        return int(found[LAG])
    return 0
