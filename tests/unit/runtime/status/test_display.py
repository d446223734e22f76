"""Jobs as text, and numbers derived from their status documents."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

from tests.unit.runtime.status.support import (
    no_metrics,
    reported,
    with_changes,
)

from streamtable.runtime.status.display import job_report, job_table
from streamtable.runtime.status.document import (
    FILE,
    read_document,
    write_document,
)
from streamtable.runtime.status.found import job_at
from streamtable.runtime.status.reporter import StatusReporter
from streamtable.runtime.status.views import holds_back, lag_of, operators_of, slowest

_MARK = 1_767_225_600_000
_QUERY: dict[str, Any] = {
    "lastCheckpoint": 1_767_225_700.0,
    "lastBatch": 7,
    "batchDuration": 1_250,
    "watermark": "2026-01-01T00:00:00.000Z",
    "partitionWatermark": {"views-0": _MARK + 25_000, "views-1": _MARK},
    "mode": "micro-batch",
    "stateRows": None,
    "stateBytes": 2_500_000,
    "proofAge": 90_000,
    "proofDifferences": 1_234,
    "proofUndecided": 0,
    "proofFailures": 2,
    "operators": [
        {"name": "tws", "stateRows": None, "stateBytes": 500_000, "stateTime": 40},
        {"name": "tws", "stateRows": None, "stateBytes": 2_000_000, "stateTime": 300},
    ],
}
_TABLES: dict[str, Any] = {
    "v": {
        "numRecordsIn": 1_000,
        "numRecordsInPerSecond": 12.5,
        "numBytesInPerSecond": 2_048.0,
        "pendingRecords": 42,
        "numErrors": 3,
    },
    "w": {
        "numRecordsOut": 10,
        "numRecordsOutPerSecond": 0.5,
        "numBytesOutPerSecond": 64.0,
        "numErrors": 0,
    },
}
_OUTLINE = {"reads": ["v"], "writes": "w", "operators": ["Aggregate", "Join"]}


def test_the_report_of_a_job(tmp_path: Path) -> None:
    with StatusReporter(reported(tmp_path), no_metrics, threading.Event(), print):
        pass
    document = read_document(tmp_path / FILE)
    assert document is not None
    metrics = {"tables": _TABLES, "queries": {"w": _QUERY}}
    write_document(tmp_path, with_changes(document, queries={"w": _OUTLINE}, metrics=metrics))
    found = job_at(tmp_path)
    assert found is not None
    text = "\n".join(job_report(found))
    for part in (
        "job j: finished",
        "query w: micro-batch, lag 42 records",
        "  reads v: 1,000 records, 12.5/s, 2.0 kB/s, lag 42, 3 errors",
        "  writes w: 10 records, 0.5/s, 64 B/s",
        "which took 1.2 s",
        "  last proof       1,234 differ, 90 s old, 2 failed",
        "  watermark        2026-01-01T00:00:00.000Z, held back by views-1",
        "    views-1    2026-01-01T00:00:00.000Z  25.0 s\n    views-0",
        "  state            2.5 MB",
        "    Join             2.0 MB    300 ms",
        "  slowest operator Join: 300 ms in the last batch",
    ):
        assert part in text, text
    headings, line = job_table([found])
    assert headings.split("  ")[0] == "NAME"
    assert [cell.strip() for cell in line.split("  ") if cell.strip()][:4] == [
        "j",
        "finished",
        "42",
        "micro-batch",
    ]


def test_unknown_values_are_not_guessed() -> None:
    assert lag_of({"a": {"pendingRecords": 1}, "b": {"pendingRecords": None}}, ["a", "b"]) is None
    assert lag_of({"a": {"pendingRecords": 1}}, ["a"]) == 1
    assert holds_back({"partitionWatermark": {"v-0": 5}}) is None
    assert holds_back({"partitionWatermark": {"v-0": 5, "v-1": 5}}) is None
    assert holds_back({"partitionWatermark": {"v-0": 5, "v-1": 5, "v-2": 6}}) == "v-0"
    # If the plan has another number of stateful operators than Spark, Spark's names are shown.
    assert [each.name for each in operators_of(_QUERY, ["Aggregate"])] == ["tws", "tws"]
    real_time = {**_QUERY, "operators": [{**_QUERY["operators"][0], "stateTime": None}]}
    assert slowest(operators_of(real_time, ["Aggregate"])) is None
