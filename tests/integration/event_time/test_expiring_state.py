"""State TTL in real-time mode, and in queries with a watermark."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

from confluent_kafka import Producer
from tests.integration.event_time.support import ONE_TASK, moment, rows_there

from streamtable.testing.answers import set_for_a_while
from streamtable.testing.jobs import BoundedRun
from streamtable.testing.topics import produce_json

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

_KEYED = """
  'properties.bootstrap.servers' = '${servers}', 'connector' = 'upsert-kafka',
  'key.format' = 'json', 'value.format' = 'json'
"""
_COUNTS = f"""
CREATE TABLE t (g STRING, id INT) WITH (
  'connector' = 'kafka', 'topic' = '${{source}}', 'scan.startup.mode' = 'earliest-offset',
  'properties.bootstrap.servers' = '${{servers}}', 'format' = 'json'
);
CREATE TABLE o (g STRING, n BIGINT, last INT, PRIMARY KEY (g) NOT ENFORCED)
WITH ('topic' = '${{source}}-o', {_KEYED});
INSERT INTO o SELECT g, COUNT(*), MAX(id) FROM t GROUP BY g;
"""
_TTL_S = 12
#: Seconds before each row of one group. The two short pauses together are longer than the TTL.
_PAUSES_S = (0, 7, 7, _TTL_S + 1)


def test_state_expires_by_the_time_of_each_row_in_real_time_mode(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    """A write renews a group, and a group without a write expires, within a checkpoint interval."""
    source, servers = topic("t"), broker.bootstrap_servers
    job = BoundedRun(spark, _COUNTS, tmp_path / "c", {"source": source, "servers": servers})
    sent: list[float] = []
    seen: list[tuple[float, int]] = []

    def done() -> bool:
        last = seen[-1][0] if seen else 0.0
        if len(sent) == len(seen) and time.monotonic() >= last + _PAUSES_S[len(sent)]:
            sent.append(time.monotonic())
            produce_json(servers, source, [{"g": "a", "id": len(sent)}])
        row = rows_there(job, "o").get("a")
        if row is not None and row["last"] > len(seen):
            seen.append((time.monotonic(), row["n"]))
        return len(seen) == len(_PAUSES_S)

    settings = {"execution.mode": "real-time", "table.exec.state.ttl": f"{_TTL_S} s"}
    with set_for_a_while(spark, ONE_TASK):
        job.until(done, settings)
    counts = [count for _, count in seen]
    # On a slow machine, the pauses between rows may exceed the TTL, so state may expire too early.
    slow = any(seen[i + 1][0] - sent[i] >= _TTL_S for i in (0, 1))
    assert counts == [1, 2, 3, 1] or (slow and counts in ([1, 2, 1, 1], [1, 1, 2, 1], [1] * 4))


_WINDOWS = f"""
CREATE TABLE t (
  k INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '2' SECOND, PRIMARY KEY (k) NOT ENFORCED
) WITH ('topic' = '${{source}}', {_KEYED});
CREATE TABLE o (g BIGINT, n BIGINT, PRIMARY KEY (g) NOT ENFORCED)
WITH ('topic' = '${{source}}-o', {_KEYED});
INSERT INTO o SELECT n, COUNT(*) FROM (
  SELECT window_start, window_end, COUNT(*) AS n
  FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' SECOND))
  GROUP BY window_start, window_end
) GROUP BY n;
"""


def test_windows_fire_between_operators_whose_state_expires(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    """The windows read from a normalizer, and an aggregate counts the windows by their size."""
    source, servers = topic("t"), broker.bootstrap_servers
    job = BoundedRun(spark, _WINDOWS, tmp_path / "c", {"source": source, "servers": servers})
    ttl = {"table.exec.state.ttl": "1 s"}
    # The first row is sent twice. The last row ends the window of the two rows before it.
    _upsert(servers, source, [(1, 1), (1, 1), (2, 3), (3, 25)])
    job.until(lambda: _rows(job) == {2: 1}, ttl)
    time.sleep(1.5)
    # Two windows end, and one of them has two rows again. The first such window has expired.
    _upsert(servers, source, [(4, 31), (5, 32), (6, 55)])
    job.until(lambda: 1 in _rows(job), ttl)
    assert _rows(job) == {2: 1, 1: 1}
    _upsert(servers, source, [(7, 56), (8, 57)])
    job(ttl, drain=True)
    assert _rows(job) == {2: 1, 1: 1, 3: 1}


def _upsert(servers: str, topic: str, rows: Iterable[tuple[int, int]]) -> None:
    """Upsert rows: their keys, and the seconds of their event times."""
    producer = Producer({"bootstrap.servers": servers})
    for k, seconds in rows:
        value = json.dumps({"k": k, "ts": moment(seconds * 1_000)})
        producer.produce(topic, value.encode(), json.dumps({"k": k}).encode())
    assert producer.flush(60) == 0


def _rows(job: BoundedRun) -> dict[object, int]:
    return {key: row["n"] for key, row in rows_there(job, "o").items()}


_WAITING = f"""
CREATE TABLE t (k INT, g STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH (
  'connector' = 'kafka', 'topic' = '${{source}}', 'scan.startup.mode' = 'earliest-offset',
  'properties.bootstrap.servers' = '${{servers}}', 'format' = 'json'
);
CREATE TABLE o (k INT, n BIGINT, PRIMARY KEY (k) NOT ENFORCED)
WITH ('topic' = '${{source}}-o', {_KEYED});
INSERT INTO o SELECT k, COUNT(*) OVER (PARTITION BY g ORDER BY ts) FROM t;
"""


def test_event_time_over_expires_state_by_processing_time(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    """State expires by the clock, over a restart.

    An idle partition has no state left after the watermark has advanced.
    """
    source, servers = topic("t", partitions=1), broker.bootstrap_servers
    job = BoundedRun(spark, _WAITING, tmp_path / "c", {"source": source, "servers": servers})
    ttl = {"table.exec.state.ttl": f"{_TTL_S} s"}

    def run(*rows: tuple[int, str, int]) -> dict[object, int]:
        parts = [{"k": k, "g": g, "ts": moment(seconds * 1_000)} for k, g, seconds in rows]
        produce_json(servers, source, parts)
        job(ttl)
        return _rows(job)

    counts = {1: 1, 2: 1, 3: 2, 4: 1}
    assert run((1, "a", 1), (2, "b", 2), (3, "a", 3), (4, "z", 10)) == counts
    time.sleep(_TTL_S)
    # The watermark advances by more than the TTL, so the operator checks unused state.
    assert run((5, "a", 11), (6, "z", 10 + 2 * _TTL_S)) == {**counts, 5: 1, 6: 1}
    state = spark.read.format("statestore").option("operatorId", 0)
    groups = state.option("stateVarName", "group").load(str(tmp_path / "c" / "o"))
    assert [row for row in groups.select("key.*").collect() if "b" in row] == []
