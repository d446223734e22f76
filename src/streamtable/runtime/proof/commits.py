"""A commit of a query: the offsets that it covers, and the end of the sink at this commit.

Spark writes `offsets/N` before it runs batch N of a micro-batch query, and `commits/N` after the
sink has all rows of the batch. Between a commit and the next file of offsets, nothing is written.
docs/decisions/0018-proof-at-a-commit.md gives the reasons.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from streamtable.connector_api.source import Split
from streamtable.core.checkpoint_path import CheckpointPath, numbered
from streamtable.jvm.streaming.planned_batches import END_WATERMARK_MS

_POLL_S = 0.005

#: Interval at which a wait asks whether the job still lives, in seconds.
_LOOK_S = 5.0


@dataclass(frozen=True)
class Commit:
    """A committed batch of a query.

    Attributes:
        batch: its number.
        time_ms: start of the batch, in epoch milliseconds.
        watermark_ms: watermark of the query in the batch; None if it is past all times.
        positions: for each source, left to right: its first and its last position as Spark writes
            them; None if the source has not started.
        ends: end of each split of the sink, exclusive.
    """

    batch: int
    time_ms: int
    watermark_ms: int | None
    positions: Sequence[tuple[str | None, str | None]]
    ends: Mapping[Split, int]


def newest_commit(directory: CheckpointPath) -> int:
    """Return the number of the newest committed batch of a query; -1 for none."""
    return max(numbered(directory / "commits"), default=-1)


def has_planned_batch(directory: CheckpointPath) -> bool:
    """Whether a batch is planned and not committed."""
    return max(numbered(directory / "offsets"), default=-1) > newest_commit(directory)


def settled_commits(
    directories: Sequence[CheckpointPath],
    recorded: Callable[[int], Mapping[Split, int] | None],
    ends: Callable[[], Mapping[Split, int]],
    in_batches: Callable[[], bool],
    lives: Callable[[], bool],
    patience_s: float,
) -> Sequence[Commit] | None:
    """Wait for a commit of each query with a known end of their sink; None if none is in time.

    Args:
        directories: the directory of the checkpoint of each query that writes the sink.
        recorded: returns the ends of the sink that a commit has recorded. It is not asked if the
            queries have several directories, because a commit says nothing about other queries.
        ends: returns the current ends of the sink. They are those of the newest commits if no later
            batch is planned after the request.
        in_batches: returns whether all rows of the sink are of planned batches. In real-time mode,
            a query writes before it plans a batch.
        lives: returns whether a process may run the job. Only then there is something to wait for.
        patience_s: the longest wait, in seconds.
    """
    begun = time.monotonic()
    looked = -math.inf
    waits = True
    while True:
        if time.monotonic() > looked + _LOOK_S:
            waits, looked = lives(), time.monotonic()
        batches = {directory: newest_commit(directory) for directory in directories}
        committed = all(batch >= 0 for batch in batches.values())
        found = None
        if committed and not _are_planned_after(batches):
            # A busy job soon plans its next batch: as few requests in between as possible.
            now = ends()
            if in_batches() and not _are_planned_after(batches):
                found = now
        if found is None and committed and len(batches) == 1:
            (batch,) = batches.values()
            found = recorded(batch)
        if found is not None:
            return [read_commit(directory, batches[directory], found) for directory in directories]
        if not waits or time.monotonic() > begun + patience_s:
            return None
        time.sleep(_POLL_S)


def _are_planned_after(batches: Mapping[CheckpointPath, int]) -> bool:
    """Whether a later batch of a query is planned."""
    return any(
        max(numbered(directory / "offsets"), default=-1) > batch
        for directory, batch in batches.items()
    )


def read_commit(directory: CheckpointPath, batch: int, ends: Mapping[Split, int]) -> Commit:
    """Read the offsets of a committed batch from the directory of a query's checkpoint."""
    _, metadata, *positions = _lines(directory / "offsets" / str(batch))
    told: Mapping[str, Any] = json.loads(metadata)
    watermark = int(told["batchWatermarkMs"])
    last = [None if text == "-" else text for text in positions]
    first = [_first(directory / "sources" / str(place) / "0") for place in range(len(last))]
    return Commit(
        batch,
        int(told["batchTimestampMs"]),
        None if watermark >= END_WATERMARK_MS else watermark,
        list(zip(first, last, strict=True)),
        ends,
    )


def _first(file: CheckpointPath) -> str | None:
    """Return the first position of a source; sources without such a file begin at offset 0."""
    if not file.exists():
        return None
    lines = _lines(file)
    return lines[1] if len(lines) == 2 else None


def _lines(file: CheckpointPath) -> list[str]:
    # Spark's Kafka source writes a zero byte before the version.
    return file.read_text(encoding="utf-8").lstrip("\0").splitlines()
