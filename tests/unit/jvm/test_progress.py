"""The progress of a query is read once per batch, and once more if a trigger finds no work."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

from pyspark.sql.streaming.query import StreamingQuery

from streamtable.jvm.streaming.progress import Progress


@dataclass
class _Done:
    """The methods of Spark's progress object that the code calls."""

    number: int
    begun: str
    read: list[int] = field(default_factory=list)

    def batchId(self) -> int:  # noqa: N802 - Spark's name
        return self.number

    def timestamp(self) -> str:
        return self.begun

    def json(self) -> str:
        self.read.append(self.number)
        nobody = "00000000-0000-0000-0000-000000000000"
        numbers = {"numInputRows": 0, "inputRowsPerSecond": 0.0, "processedRowsPerSecond": 0.0}
        parts: dict[str, Any] = {"stateOperators": [], "sources": [], "observedMetrics": {}}
        return json.dumps(
            {"id": nobody, "runId": nobody, "name": "q", "timestamp": self.begun}
            | {"batchId": self.number, "batchDuration": 1, "durationMs": {}, "eventTime": {}}
            | {**numbers, **parts, "sink": {"description": "s", "numOutputRows": 0, **numbers}}
        )


def test_progress_is_read_once_per_batch_and_timestamp() -> None:
    history: list[_Done | None] = []
    java = SimpleNamespace(lastProgress=lambda: history[-1])
    progress = Progress(cast("StreamingQuery", SimpleNamespace(_jsq=java)))

    history.append(None)
    assert (progress.newest(), progress.newest_batch()) == (None, None)

    read: list[int] = []
    for number, begun in [(0, "a"), (0, "a"), (1, "b"), (1, "b"), (1, "c")]:
        history.append(_Done(number, begun, read))
        newest = progress.newest()
        assert newest is not None
        assert (newest.batchId, newest.timestamp) == (number, begun)
        assert progress.newest_batch() == number
    assert read == [0, 1, 1]
