"""What a streaming query has done, read in one call."""

from __future__ import annotations

import json
from typing import Any

from pyspark.sql.streaming.listener import StreamingQueryProgress
from pyspark.sql.streaming.query import StreamingQuery


def newest(query: StreamingQuery) -> StreamingQueryProgress | None:
    """What its newest batch has done, if there is one.

    `StreamingQuery.lastProgress` reads the same field by field, and its maps by iterating over them
    (`jvm.maps` has what that costs).
    """
    java: Any = query._jsq.lastProgress()  # noqa: SLF001 - no public way
    return None if java is None else StreamingQueryProgress.fromJson(json.loads(java.json()))


def ended_batches(query: StreamingQuery) -> int:
    """How many batches have ended since its start, as far as Spark keeps count: to a hundred."""
    return len(query._jsq.recentProgress())  # noqa: SLF001 - without reading what they did
