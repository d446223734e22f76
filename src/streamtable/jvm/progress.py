"""What a streaming query has done, read in as few calls as may be."""

from __future__ import annotations

import json
from typing import Any

from pyspark.sql.streaming.listener import StreamingQueryProgress
from pyspark.sql.streaming.query import StreamingQuery


class Progress:
    """What one run of a streaming query has done, from its start on.

    `StreamingQuery.lastProgress` reads it field by field, and its maps by iterating over them
    (`jvm.maps` has what that costs). Read as json it takes two milliseconds of the CPU, so that is
    done once for each batch and not at every look.
    """

    def __init__(self, query: StreamingQuery) -> None:
        self._java: Any = query._jsq  # noqa: SLF001 - no public way
        self._read: tuple[tuple[int, str], StreamingQueryProgress] | None = None

    def newest(self) -> StreamingQueryProgress | None:
        """What the newest batch has done, if there is one."""
        java = self._java.lastProgress()
        if java is None:
            return None
        # A number comes again where a batch finds nothing to do.
        which = (int(java.batchId()), str(java.timestamp()))
        if self._read is None or self._read[0] != which:
            self._read = (which, StreamingQueryProgress.fromJson(json.loads(java.json())))
        return self._read[1]

    def newest_batch(self) -> int | None:
        """The number of the newest batch that has ended, if there is one."""
        java = self._java.lastProgress()
        return None if java is None else int(java.batchId())

    def ended_batches(self) -> int:
        """How many batches have ended, as far as Spark keeps count: to a hundred."""
        return len(self._java.recentProgress())  # without reading what they did
