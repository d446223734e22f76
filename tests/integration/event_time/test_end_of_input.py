"""The last batch of a bounded run: the run that reads the last records also ends the input."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from tests.integration.event_time.support import SOURCE, Event, send

from streamtable.jvm.bridge import Bridge
from streamtable.jvm.streaming.planned_batches import (
    END_WATERMARK_MS,
    Stage,
    plan_empty_batch,
    stage,
)
from streamtable.testing.jobs import BoundedRun
from streamtable.testing.topics import records

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

#: Windows over windows: the last batch goes through two operators that wait for the watermark.
SCRIPT = (
    SOURCE
    + """
CREATE TABLE counts (k INT, n BIGINT, most BIGINT) WITH (
  'connector' = 'kafka', 'topic' = '${source}-counts',
  'properties.bootstrap.servers' = '${servers}', 'format' = 'json'
);
CREATE VIEW small AS SELECT window_time AS rt, k, COUNT(*) AS n
FROM TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '10' SECOND)
GROUP BY window_start, window_end, window_time, k;
INSERT INTO counts SELECT k, SUM(n), MAX(n)
FROM TUMBLE(TABLE small, DESCRIPTOR(rt), INTERVAL '1' MINUTE) GROUP BY window_start, window_end, k;
"""
)
#: Records per second of event time, in each of two partitions.
_RATE = 5


def _events(begin_s: int, end_s: int) -> list[Event]:
    return [
        Event(s * 1_000 + i, s % 2, i, partition)
        for s in range(begin_s, end_s)
        for partition in (0, 1)
        for i in range(_RATE)
    ]


def _expected(seconds: int) -> Counter[tuple[int, int, int]]:
    """Return rows of the sink: key, records in a minute, most records in ten seconds."""
    found: Counter[tuple[int, int, int]] = Counter()
    for begin in range(0, seconds, 60):
        for k in (0, 1):
            small = [
                sum(2 * _RATE for s in range(ten, min(ten + 10, seconds)) if s % 2 == k)
                for ten in range(begin, min(begin + 60, seconds), 10)
            ]
            found[k, sum(small), max(small)] += 1
    return found


def _rows(servers: str, source: str) -> Counter[tuple[int, int, int]]:
    rows = (json.loads(r.value()) for r in records(servers, f"{source}-counts"))
    return Counter((row["k"], row["n"], row["most"]) for row in rows)


def _batches(checkpoint: Path) -> list[tuple[int, Any]]:
    """Return the watermark in milliseconds and the end offsets of each batch of the query."""
    files = (checkpoint / "counts" / "offsets").glob("[0-9]*")
    texts = [file.read_text().splitlines() for file in sorted(files, key=lambda f: int(f.name))]
    return [(json.loads(text[1])["batchWatermarkMs"], json.loads(text[2])) for text in texts]


def test_the_run_that_reads_the_last_records_ends_the_input(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    source, servers = topic("end", partitions=2), broker.bootstrap_servers
    send(servers, source, _events(0, 100))
    job = BoundedRun(spark, SCRIPT, tmp_path / "c", {"source": source, "servers": servers})
    job({"execution.micro-batch.max-records": "300"}, drain=True)
    assert stage(Bridge(spark), tmp_path / "c" / "counts") is Stage.ENDED
    *read, (watermark, ends) = _batches(tmp_path / "c")
    assert len(read) == 4  # 1,000 records
    assert watermark == END_WATERMARK_MS
    assert all(before < END_WATERMARK_MS for before, _ in read)
    assert ends == read[-1][1], "the last batch has no records"
    assert len({str(offsets) for _, offsets in read}) == len(read), "no batch before it is empty"
    assert _rows(servers, source) == _expected(100)


def test_an_empty_batch_of_an_earlier_run_does_not_end_the_input(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    """The second run begins with a batch without records, before it has read a record."""
    source, servers = topic("end", partitions=2), broker.bootstrap_servers
    job = BoundedRun(spark, SCRIPT, tmp_path / "c", {"source": source, "servers": servers})
    send(servers, source, _events(0, 30))
    job()
    assert plan_empty_batch(Bridge(spark), tmp_path / "c" / "counts")
    send(servers, source, _events(30, 100))
    job(drain=True)
    assert _rows(servers, source) == _expected(100)
    assert [w for w, _ in _batches(tmp_path / "c")].count(END_WATERMARK_MS) == 1


def test_a_batch_includes_a_small_remainder(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    """A batch also takes a small rest, which is left because Spark rounds down partition shares."""
    source, servers = topic("end", partitions=2), broker.bootstrap_servers
    send(servers, source, [Event(s * 100, 0, s, s % 3 % 2) for s in range(1_002)])
    job = BoundedRun(spark, SCRIPT, tmp_path / "c", {"source": source, "servers": servers})
    job({"execution.micro-batch.max-records": "500"})
    read = [offsets[source] for _, offsets in _batches(tmp_path / "c")]
    assert sum(read[0].values()) < 500
    assert sum(read[1].values()) == 1_002
