"""CURRENT_WATERMARK is the watermark of a row's batch, and can select late rows for a table."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from tests.integration.event_time.support import Event, moment, send

from streamtable.testing.jobs import BoundedRun
from streamtable.testing.topics import records

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

_SCRIPT = """
SET 'table.local-time-zone' = 'UTC';
CREATE TABLE events (
  ts TIMESTAMP(3), k INT, happened AS CAST(ts AS ${kind}(3)),
  WATERMARK FOR happened AS happened - INTERVAL '2' SECOND
) WITH (
  'connector' = 'kafka', 'topic' = '${source}', 'scan.startup.mode' = 'earliest-offset',
  'properties.bootstrap.servers' = '${servers}', 'format' = 'json'
);
CREATE TABLE late (k INT, w STRING) WITH (
  'connector' = 'kafka', 'topic' = '${late}', 'format' = 'json',
  'properties.bootstrap.servers' = '${servers}'
);
INSERT INTO late SELECT k, CAST(CURRENT_WATERMARK(happened) AS STRING) FROM events
  WHERE CURRENT_WATERMARK(happened) IS NULL OR happened <= CURRENT_WATERMARK(happened);
"""
#: Batches, each with its late rows. The watermark is the minimum of the partitions, less 2 s:
#: 8 s after the first batch, 17 s after the second.
_BATCHES: list[tuple[list[Event], dict[int, str | None]]] = [
    ([Event(10_000, 1, 0, 0), Event(20_000, 2, 0, 1)], {1: None, 2: None}),
    (
        [Event(8_001, 4, 0, 0), Event(19_000, 5, 0, 0), Event(8_000, 3, 0, 0)],
        {3: moment(8_000)},
    ),
    ([Event(18_000, 7, 0, 1), Event(17_000, 6, 0, 0)], {6: moment(17_000)}),
]


@pytest.mark.parametrize("kind", ["TIMESTAMP", "TIMESTAMP_LTZ"])
def test_late_rows(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path, kind: str
) -> None:
    """A batch has the watermark of the batches before it; each run is a restart."""
    servers = broker.bootstrap_servers
    source, late = topic("events", partitions=2), topic("late")
    names = {"source": source, "late": late, "servers": servers, "kind": kind}
    job = BoundedRun(spark, _SCRIPT, tmp_path / "job", names)
    expected = {}
    for batch, added in _BATCHES:
        send(servers, source, batch)
        expected.update(added)
        job()
        assert _late(servers, late) == expected


@pytest.mark.soak
def test_late_rows_in_real_time_mode(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    """The watermark advances with each checkpoint."""
    servers = broker.bootstrap_servers
    source, late = topic("events", partitions=2), topic("late")
    names = {"source": source, "late": late, "servers": servers, "kind": "TIMESTAMP"}
    job = BoundedRun(spark, _SCRIPT, tmp_path / "job", names)
    batches = iter(_BATCHES)
    expected: dict[int, str | None] = {}
    seen_at = -1  # checkpoints when all rows so far had arrived; -1 before that

    def done() -> bool:
        nonlocal seen_at
        checkpoints = len(list((tmp_path / "job").glob("**/commits/[0-9]*")))
        if seen_at >= 0 and checkpoints > seen_at + 1:
            batch, added = next(batches, ([], {}))
            if not batch:
                return True
            send(servers, source, batch)
            expected.update(added)
            seen_at = -1
        elif seen_at < 0 and len(_late(servers, late)) == len(expected):
            seen_at = checkpoints
        return False

    job.until(done, {"execution.mode": "real-time", "execution.checkpointing.interval": "5 s"})
    assert _late(servers, late) == expected


def _late(servers: str, topic: str) -> dict[int, str | None]:
    rows = (json.loads(record.value()) for record in records(servers, topic))
    return {row["k"]: row["w"] for row in rows}
