"""The end of a bounded scan: options of the table -> an end offset for each partition."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping

from streamtable.connectors.kafka.cluster.admin import KafkaAdmin, Partition
from streamtable.connectors.kafka.options.options import BOUNDED_OFFSETS, BoundedMode
from streamtable.connectors.kafka.options.values import Bound
from streamtable.connectors.kafka.table import KafkaTable
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.options import Option


def topics_of(table: KafkaTable, admin: KafkaAdmin) -> tuple[str, ...]:
    """Return the topics that a table reads now: its named topics, or the matches of its pattern."""
    pattern = table.discovery.pattern
    return tuple(admin.topics_matching(pattern)) if pattern else table.topics


def kept_bound(table: KafkaTable) -> str | None:
    """Return the options of a bound that depends on a group, whose committed offsets move."""
    bound = table.bound
    if bound is None or bound.mode not in (BoundedMode.GROUP, BoundedMode.SPECIFIC):
        return None
    topics = table.discovery.pattern or ";".join(table.topics)
    offsets = "".join(f" {partition}:{end}" for partition, end in sorted(bound.offsets.items()))
    return f"{bound.mode.value}{offsets} of {topics}, group {table.group_id}"


def end_offsets(table: KafkaTable, bound: Bound, admin: KafkaAdmin) -> Mapping[Partition, int]:
    """Return the end offset of each partition of a bounded scan, exclusive.

    Raises:
        StreamtableError: OPTION_CONFLICT if the group has no commit for a partition, or a named
            partition does not exist.
    """
    if bound.ends is not None:
        return bound.ends
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
            return _reachable(table, topics, admin)


def before(ends: Mapping[Partition, int]) -> str:
    """Return a Spark SQL condition: the record is before its partition's end.

    The condition is false for all records of a partition without an end offset.
    """
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
                f"{table.table} ends at group-offsets, but group '{table.group_id}' has no"
                f" committed offset for partition {partition} of '{topic}'"
            ),
            hint="use a group with committed offsets, or 'scan.bounded.mode' = 'latest-offset'",
        )
    return committed


def _specific(
    table: KafkaTable, bound: Bound, topics: tuple[str, ...], admin: KafkaAdmin
) -> dict[Partition, int]:
    """Return specific end offsets; other partitions end at the group's commit (Flink's rule).

    The scan waits for an offset beyond the end of its partition; see `ahead`.
    """
    (topic,) = topics
    committed = admin.committed_offsets(table.group_id, topics) if table.group_id else {}
    named = {(topic, partition): offset for partition, offset in bound.offsets.items()}
    check_named(table, "ends", BOUNDED_OFFSETS, named, admin.end_offsets(topics))
    return {**committed, **named}


def check_named(
    table: KafkaTable,
    verb: str,
    option: Option[str],
    named: Iterable[Partition],
    there: Container[Partition],
) -> None:
    """Refuse a partition that an option of a scan names and that does not exist.

    Args:
        table: the table of the scan.
        verb: what the scan does at the offsets of the option.
        option: the option.
        named: the partitions of the option.
        there: the partitions that exist.

    Raises:
        StreamtableError: OPTION_CONFLICT.
    """
    for topic, partition in named:
        if (topic, partition) not in there:
            raise StreamtableError(
                Condition.OPTION_CONFLICT,
                at=table.at,
                reason=(
                    f"{table.table} {verb} in partition {partition} of '{topic}' by its"
                    f" '{option.key}', but there is no such partition"
                ),
                hint="use partitions of the topic",
            )


def ahead(table: KafkaTable, admin: KafkaAdmin) -> dict[Partition, int]:
    """Return the end offsets that a scan cannot reach yet; the scan waits for them, as in Flink."""
    if table.bound is None:
        return {}
    wanted = end_offsets(table, table.bound, admin)
    there = _reachable(table, topics_of(table, admin), admin)
    return {p: offset for p, offset in wanted.items() if offset > there.get(p, offset)}


def _reachable(
    table: KafkaTable, topics: tuple[str, ...], admin: KafkaAdmin
) -> dict[Partition, int]:
    """Return the current end offsets; a committed read ends before the first open transaction."""
    return admin.stable_end_offsets(topics) if table.reads_committed else admin.end_offsets(topics)
