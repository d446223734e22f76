"""Offsets by split. A split of a Kafka table is a partition, with the name "topic/partition"."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from streamtable.connector_api.source import Split
from streamtable.connectors.kafka.cluster.admin import Partition


def split_of(partition: Partition) -> Split:
    """Return the split of a partition. Topic names cannot contain a slash."""
    topic, number = partition
    return f"{topic}/{number}"


def partition_of(split: Split) -> Partition:
    """Return the topic and the partition of a split."""
    topic, _, number = split.rpartition("/")
    return topic, int(number)


def by_split(offsets: Mapping[Partition, int]) -> dict[Split, int]:
    """Convert offsets by partition into offsets by split."""
    return {split_of(partition): offset for partition, offset in offsets.items()}


def offsets_json(offsets: Mapping[Partition, int]) -> str:
    """Return offsets in the JSON of Spark's Kafka source, `{"topic": {"0": 17}}`."""
    by_topic: dict[str, dict[str, int]] = {}
    for (topic, partition), offset in sorted(offsets.items()):
        by_topic.setdefault(topic, {})[str(partition)] = offset
    return json.dumps(by_topic)


def positions(reached: Iterable[str | None]) -> dict[Partition, int]:
    """Return the offset of each partition; the minimum if several sources read the partition.

    Args:
        reached: positions in the JSON of Spark's Kafka source, `{"topic": {"0": 17}}`: the offset
            of the next record. Positions in any other form belong to other connectors and are
            ignored. A source that has not started has the position None.
    """
    found: dict[Partition, int] = {}
    for text in filter(None, reached):
        offsets: Any = json.loads(text)
        if not isinstance(offsets, dict):
            continue
        for topic, partitions in offsets.items():
            if isinstance(partitions, dict):
                for partition, offset in partitions.items():
                    key = (topic, int(partition))
                    found[key] = min(offset, found.get(key, offset))
    return found
