"""Batches that Spark has recorded in the checkpoint of a query."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path


def newest(query: Path, log: str = "commits") -> int:
    """Return the number of the newest batch in `commits` or `offsets`, or -1 if there is none."""
    return max((int(f.name) for f in (query / log).glob("*") if f.name.isdecimal()), default=-1)


def positions(query: Path, topic: str, log: str = "commits") -> dict[int, int]:
    """Return the end offsets of the newest batch by partition; of several scans, the minimum."""
    batch = newest(query, log)
    reached: dict[int, int] = {}
    lines = (query / "offsets" / str(batch)).read_text().splitlines() if batch >= 0 else []
    # A version and metadata come first, then a line for each scan: "-" if the scan has not begun.
    for line in (line for line in lines[2:] if line.startswith("{")):
        for partition, offset in json.loads(line).get(topic, {}).items():
            reached[int(partition)] = min(offset, reached.get(int(partition), offset))
    return reached


def reaches(query: Path, topic: str, ends: Mapping[int, int]) -> bool:
    """Return whether the newest commit reaches the ends of a topic's partitions."""
    reached = positions(query, topic)
    return all(reached.get(p, -1) >= end for p, end in ends.items())
