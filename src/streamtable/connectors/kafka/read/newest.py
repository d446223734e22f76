"""A bounded scan of the newest records of a topic, for samples."""

from __future__ import annotations

from dataclasses import replace

from streamtable.connectors.kafka.cluster.admin import KafkaAdmin
from streamtable.connectors.kafka.options.options import BoundedMode, StartupMode
from streamtable.connectors.kafka.options.values import Bound, Startup
from streamtable.connectors.kafka.table import KafkaTable
from streamtable.jvm.bridge import Bridge


def newest(table: KafkaTable, records: int, bridge: Bridge) -> KafkaTable | None:
    """Return the table over its newest records, the same number of each partition.

    The scan writes no dead letters: a sample changes nothing.

    Args:
        table: the table.
        records: number of records of all partitions.
        bridge: the JVM side.

    Returns:
        The bounded table; None if it does not read exactly one existing topic.
    """
    admin = KafkaAdmin(bridge, table.properties)
    if len(table.topics) != 1 or not admin.describe(table.topics[0]):
        return None
    ends, begins = admin.end_offsets(table.topics), admin.begin_offsets(table.topics)
    each = max(1, records // len(ends))
    offsets = {p[1]: max(begins[p], end - each) for p, end in ends.items()}
    return replace(
        table,
        startup=Startup(StartupMode.SPECIFIC, explicit=True, offsets=offsets),
        bound=Bound(BoundedMode.LATEST),
        dead_letter_topic=None,
    )
