"""The part of a table's history that its topics still have, and messages about the other part."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from streamtable.connectors.kafka.cluster.admin import Partition
from streamtable.connectors.kafka.table import KafkaTable
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.moment import Moment

_POLICY = "cleanup.policy"


@dataclass(frozen=True)
class History:
    """Offsets of a table's partitions, and settings of its topics.

    Attributes:
        begins: the first offset that the brokers still have.
        ends: the end of the readable records, exclusive.
        all_ends: the end of all records, with those of open transactions.
        settings: topic -> the result of `KafkaAdmin.describe`.
    """

    begins: Mapping[Partition, int]
    ends: Mapping[Partition, int]
    all_ends: Mapping[Partition, int]
    settings: Mapping[str, Mapping[str, str]]


def lost(
    table: KafkaTable, moment: Moment, ends: Mapping[Partition, int], history: History
) -> StreamtableError | None:
    """Return MOMENT_LOST if the topics have deleted every record up to a moment.

    The end of now is no moment before a deletion: a topic may have no records left.
    """
    gone = {p for p, end in ends.items() if 0 < history.begins[p] >= end}
    used = {p for p in ends if history.begins[p] > 0 or history.all_ends[p] > 0}
    if moment.is_now or not gone or gone != used:
        return None
    topic, partition = min(gone)
    first = history.begins[topic, partition]
    return StreamtableError(
        Condition.MOMENT_LOST,
        at=table.at,
        table=table.table,
        moment=moment.text,
        reason=(
            "the brokers have deleted all records up to this moment; partition"
            f" {partition} of topic '{topic}' begins at offset {first}"
        ),
        hint="read a later moment; 'retention.ms' of the topic decides how long records are kept",
    )


def notices(
    table: KafkaTable,
    moments: Sequence[Moment],
    ends: Sequence[Mapping[Partition, int]],
    history: History,
) -> tuple[str, ...]:
    """Return lines about records that are deleted, compacted, or in open transactions."""
    return tuple(
        line
        for topic in sorted(history.settings)
        for line in (
            *_deleted(table, topic, history),
            *_compacted(table, topic, moments, ends, history),
            *_open(table, topic, moments, history),
        )
    )


def _deleted(table: KafkaTable, topic: str, history: History) -> Iterator[str]:
    deleted = sum(offset for (name, _), offset in history.begins.items() if name == topic)
    if deleted:
        what = "rows" if table.reads.is_append else "rows that have not changed since"
        yield (
            f"{table.table}: topic '{topic}' no longer has the first {deleted} offsets of its"
            f" partitions; {what} are missing"
        )


def _compacted(
    table: KafkaTable,
    topic: str,
    moments: Sequence[Moment],
    ends: Sequence[Mapping[Partition, int]],
    history: History,
) -> Iterator[str]:
    """Yield a line for the earliest moment before which compaction may have removed records.

    Compaction removes a record only if a later record of its key is older than
    `min.compaction.lag.ms`. A moment within this lag has therefore lost nothing.
    """
    settings = history.settings[topic]
    policy = settings.get(_POLICY)
    if policy is not None and "compact" not in policy:
        return
    lag_ms = int(settings.get("min.compaction.lag.ms", "0"))
    for moment, reached in zip(moments, ends, strict=True):
        later = any(reached[p] < end for p, end in history.all_ends.items() if p[0] == topic)
        recent = moment.time_ms is not None and moment.time_ms >= time.time() * 1_000 - lag_ms
        if later and not recent and not moment.is_now:
            may_be = (
                "is compacted" if policy else "may be compacted (its settings are not readable)"
            )
            yield (
                f"{table.table}: topic '{topic}' {may_be}; rows of '{moment.text}' that changed"
                " later may be missing"
            )
            return


def _open(
    table: KafkaTable, topic: str, moments: Sequence[Moment], history: History
) -> Iterator[str]:
    held = sum(history.all_ends[p] - end for p, end in history.ends.items() if p[0] == topic)
    if held and any(moment.is_now for moment in moments):
        yield (
            f"{table.table}: the newest {held} offsets of topic '{topic}' are not read, because a"
            " transaction is open"
        )
