"""Where a scan ends: the options of a bounded table -> an offset for each partition."""

from __future__ import annotations

from collections.abc import Mapping

from streamtable.connectors.kafka.options import BoundedMode
from streamtable.connectors.kafka.table import Bound, KafkaTable
from streamtable.core.errors import Condition, StreamtableError
from streamtable.jvm.kafka_admin import KafkaAdmin, Partition


def topics_of(table: KafkaTable, admin: KafkaAdmin) -> tuple[str, ...]:
    """The topics that a table reads now: those it names, or those that fit its pattern."""
    pattern = table.discovery.pattern
    return tuple(admin.topics_matching(pattern)) if pattern else table.topics


def end_offsets(table: KafkaTable, bound: Bound, admin: KafkaAdmin) -> dict[Partition, int]:
    """Where each partition ends for a bounded scan, exclusive; a new run asks anew.

    Raises:
        StreamtableError: OPTION_CONFLICT for a group that has not committed everywhere, or a
            partition that is not there.
    """
    topics = topics_of(table, admin)
    match bound.mode:
        case BoundedMode.TIMESTAMP:
            assert bound.timestamp_ms is not None, "a rule demands it"  # noqa: S101
            return admin.offsets_at(topics, bound.timestamp_ms)
        case BoundedMode.GROUP:
            return _committed(table, topics, admin)
        case BoundedMode.SPECIFIC:
            return _specific(table, bound, topics, admin)
        case _:
            return admin.end_offsets(topics)


def before(ends: Mapping[Partition, int]) -> str:
    """Spark SQL: whether a record lies before the end of its partition; none does in a new one."""
    by_topic: dict[str, list[str]] = {}
    for (topic, partition), offset in sorted(ends.items()):
        by_topic.setdefault(topic, []).append(f"WHEN {partition} THEN {offset}")
    topics = (
        f"WHEN '{topic}' THEN CASE partition {' '.join(cases)} ELSE 0 END"
        for topic, cases in by_topic.items()
    )
    return f"offset < CASE topic {' '.join(topics)} ELSE 0 END" if ends else "FALSE"


def _committed(
    table: KafkaTable, topics: tuple[str, ...], admin: KafkaAdmin
) -> dict[Partition, int]:
    committed = admin.committed_offsets(table.group_id, topics) if table.group_id else {}
    lacking = [p for p in admin.end_offsets(topics) if p not in committed]
    if lacking:
        topic, partition = lacking[0]
        raise StreamtableError(
            Condition.OPTION_CONFLICT,
            at=table.at,
            reason=(
                f"{table.table} ends at group-offsets, and group '{table.group_id}' has committed"
                f" none for partition {partition} of '{topic}'"
            ),
            hint="name a group that has, or use 'scan.bounded.mode' = 'latest-offset'",
        )
    return committed


def _specific(
    table: KafkaTable, bound: Bound, topics: tuple[str, ...], admin: KafkaAdmin
) -> dict[Partition, int]:
    """As Flink's: partitions that the option does not name end where the group has committed.

    An offset beyond the end of its partition is waited for; see `ahead`.
    """
    (topic,) = topics
    committed = admin.committed_offsets(table.group_id, topics) if table.group_id else {}
    named = {(topic, partition): offset for partition, offset in bound.offsets.items()}
    for partition in named.keys() - admin.end_offsets(topics).keys():
        raise StreamtableError(
            Condition.OPTION_CONFLICT,
            at=table.at,
            reason=(
                f"{table.table} ends in partition {partition[1]} of '{topic}' by its"
                " 'scan.bounded.specific-offsets', and there is no such partition"
            ),
            hint="name partitions that the topic has",
        )
    return {**committed, **named}


def ahead(table: KafkaTable, admin: KafkaAdmin) -> dict[Partition, int]:
    """Ends of a scan that its topic has not come to yet, so that they are waited for.

    Only `scan.bounded.specific-offsets` can name such a one. Empty where there is none.
    """
    if table.bound is None or table.bound.mode is not BoundedMode.SPECIFIC:
        return {}
    topics = topics_of(table, admin)
    there = admin.end_offsets(topics)
    wanted = _specific(table, table.bound, topics, admin)
    return {p: offset for p, offset in wanted.items() if offset > there[p]}
