"""ORDER BY an event time emits every row once, in order over partitions and batches."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from tests.integration.event_time.support import (
    END,
    SOURCE,
    Event,
    millis,
    punctual,
    send,
    watermark,
)

from streamtable.testing.histories import pieces, random_cuts
from streamtable.testing.jobs import BoundedRun
from streamtable.testing.topics import records

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

_SORTED = """
CREATE TABLE sorted (ts TIMESTAMP(3), k INT, v INT) WITH (
  'connector' = 'kafka', 'topic' = '${sorted}', 'format' = 'json',
  'properties.bootstrap.servers' = '${servers}'
);
INSERT INTO sorted SELECT * FROM events ORDER BY ts, v DESC, k;
"""


def test_rows_are_emitted_in_order(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    servers = broker.bootstrap_servers
    source, into = topic("events", partitions=2), topic("sorted", partitions=1)
    names = {"source": source, "sorted": into, "servers": servers}
    job = BoundedRun(spark, SOURCE + _SORTED, tmp_path / "job", names)
    # Every event has a peer with the same time.
    events = [
        peer
        for event in punctual(61, 25, {0: 0, 1: 3_000})
        for peer in (event, replace(event, v=event.v + 3))
    ]
    for some in pieces(events, random_cuts(61, len(events), 3)):
        send(servers, source, some)
        job()
    passed = watermark(events, range(2))
    assert _written(servers, into) == _ordered(events, passed)
    late = Event(passed - 60_000, 0, 0)
    send(servers, source, [late])
    job(drain=True)
    assert any("1 record" in n and "watermark had passed" in n for n in job.notices), job.notices
    assert _written(servers, into) == _ordered(events, END)


def _ordered(events: list[Event], passed: int) -> list[tuple[int, int, int]]:
    due = [(e.ms, e.k, e.v) for e in events if e.ms is not None and e.ms <= passed]
    return sorted(due, key=lambda row: (row[0], -row[2], row[1]))


def _written(servers: str, topic: str) -> list[tuple[int, int, int]]:
    """Return the rows of the topic's only partition, in order."""
    rows: list[tuple[int, int, int]] = []
    for record in records(servers, topic):
        found = json.loads(record.value())
        rows.append((millis(found["ts"]), found["k"], found["v"]))
    return rows
