"""The topics of a table. Java matches a topic pattern, as in Spark's source."""

from __future__ import annotations

from collections.abc import Mapping

from streamtable.connectors.kafka.cluster.admin import Partition
from streamtable.connectors.kafka.table import KafkaTable
from streamtable.jvm.bridge import Bridge

#: (pattern, topic) -> whether the pattern matches the whole name. A job asks for the same topics
#: several times a second.
_MATCHES: dict[tuple[str, str], bool] = {}


def reads_topic(table: KafkaTable, topic: str, bridge: Bridge) -> bool:
    """Return whether a table reads a topic."""
    pattern = table.discovery.pattern
    if pattern is None:
        return topic in table.topics
    found = _MATCHES.get((pattern, topic))
    if found is None:
        found = bool(bridge.java.kafka.admin.KafkaAdmin.matches(pattern, topic))
        _MATCHES[pattern, topic] = found
    return found


def own_offsets(
    table: KafkaTable, offsets: Mapping[Partition, int], bridge: Bridge
) -> dict[Partition, int]:
    """Return the offsets of the topics that a table reads."""
    return {p: offset for p, offset in offsets.items() if reads_topic(table, p[0], bridge)}
