"""The progress of a streaming query, read in as few calls as possible."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from pyspark.sql.streaming.listener import StreamingQueryProgress
from pyspark.sql.streaming.query import StreamingQuery


class Progress:
    """The progress of one run of a streaming query since its start.

    `StreamingQuery.lastProgress` reads the progress field by field, and iterates over its maps (see
    `jvm.maps` for the cost). Reading it as JSON takes 2 ms of CPU time. This class therefore reads
    the progress once per batch, not on every call.
    """

    def __init__(self, query: StreamingQuery) -> None:
        self._java: Any = query._jsq  # noqa: SLF001 - no public way
        self._read: tuple[tuple[int, str], StreamingQueryProgress] | None = None

    def newest(self) -> StreamingQueryProgress | None:
        """Return the progress of the newest batch, if there is one."""
        java = self._java.lastProgress()
        if java is None:
            return None
        # A batch number repeats if a batch has no work.
        which = (int(java.batchId()), str(java.timestamp()))
        if self._read is None or self._read[0] != which:
            self._read = (which, StreamingQueryProgress.fromJson(json.loads(java.json())))
        return self._read[1]

    def newest_batch(self) -> int | None:
        """Return the number of the newest batch that has ended, if there is one."""
        java = self._java.lastProgress()
        return None if java is None else int(java.batchId())

    def ended_batches(self) -> int:
        """Return how many batches have ended; Spark counts up to a hundred."""
        return len(self._java.recentProgress())  # without reading their progress


def batch_times(progress: StreamingQueryProgress) -> tuple[float, int | None]:
    """Return when a batch ended, in epoch seconds, and its milliseconds; None if not known."""
    begun = datetime.fromisoformat(progress.timestamp.replace("Z", "+00:00")).timestamp()
    took: int | None = progress.durationMs.get("triggerExecution")
    return begun + (took or 0) / 1_000, took
