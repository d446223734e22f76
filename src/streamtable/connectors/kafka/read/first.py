"""The startup offsets that a table gives to every first run, whenever the run starts."""

from __future__ import annotations

from streamtable.connectors.kafka.cluster.admin import KafkaAdmin, Partition
from streamtable.connectors.kafka.options.options import StartupMode
from streamtable.connectors.kafka.read.bounds import topics_of
from streamtable.connectors.kafka.table import KafkaTable


def first_offsets(table: KafkaTable, admin: KafkaAdmin) -> dict[Partition, int] | str:
    """Return the startup offsets of a table, or why they depend on the time of the start.

    A partition that starts at its first record starts at offset 0: an earlier run may have read
    records that have been deleted since.

    Raises:
        StreamtableError: an error of the brokers.
    """
    startup = table.startup
    topics = topics_of(table, admin)
    begins = admin.begin_offsets(topics)
    match startup.mode:
        case StartupMode.EARLIEST:
            return dict.fromkeys(begins, 0)
        case StartupMode.TIMESTAMP:
            assert startup.timestamp_ms is not None, "a rule demands it"  # noqa: S101
            found = admin.offsets_at(topics, startup.timestamp_ms)
            return {p: offset if offset > begins[p] else 0 for p, offset in found.items()}
        case StartupMode.SPECIFIC:
            unnamed = [number for _, number in begins if number not in startup.offsets]
            if unnamed and table.group_id:
                return (
                    f"{table.table} starts in partition {unnamed[0]} at the committed offset of"
                    f" group '{table.group_id}', which moves"
                )
            return {p: startup.offsets.get(p[1], 0) for p in begins}
        case _:
            return (
                f"'scan.startup.mode' of {table.table} is {startup.mode.value}, so the offsets at"
                " which its first run began are not known"
            )
