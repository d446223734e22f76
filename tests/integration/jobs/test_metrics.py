"""Metrics of real jobs against what was produced and consumed, in both execution modes."""

from __future__ import annotations

import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.jobs.support import Cli, write
from tests.integration.jobs.test_change_events import records

from streamtable.testing.jobs import BoundedRun
from streamtable.testing.topics import produce

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

SCRIPT = """
CREATE TABLE t (k INT, g INT, PRIMARY KEY (k) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${source}',
  'properties.bootstrap.servers' = '${servers}',
  'key.format' = 'json', 'value.format' = 'json', 'value.json.ignore-parse-errors' = 'true'
);
CREATE TABLE o (g INT, n BIGINT, PRIMARY KEY (g) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${source}-out',
  'properties.bootstrap.servers' = '${servers}',
  'key.format' = 'json', 'value.format' = 'json'
);
INSERT INTO o SELECT g, COUNT(*) FROM t GROUP BY g;
"""


def _input(count: int) -> list[tuple[bytes | None, bytes | None]]:
    rows: list[tuple[bytes | None, bytes | None]] = [
        (b'{"k":%d}' % k, b'{"k":%d,"g":%d}' % (k, k % 7)) for k in range(count)
    ]
    return [*rows, (b'{"k":1}', b"{"), (None, b"{}"), (b'{"k":0}', None)]


def _size(rows: Any) -> int:
    return sum(len(key or b"") + len(value or b"") for key, value in rows)


def test_values_are_those_of_the_topics(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    source = topic("changes", partitions=2)
    rows = _input(200)
    produce(broker.bootstrap_servers, source, rows)
    job = BoundedRun(
        spark, SCRIPT, tmp_path / "c", {"source": source, "servers": broker.bootstrap_servers}
    )
    begun = time.time()
    job({"execution.micro-batch.max-records": "60"})
    values = job.metrics.values()
    read, written, query = values["tables"]["t"], values["tables"]["o"], values["queries"]["o"]
    out = [(r.key(), r.value()) for r in records(broker, f"{source}-out")]
    assert (read["numRecordsIn"], read["numBytesIn"]) == (len(rows), _size(rows))
    assert (written["numRecordsOut"], written["numBytesOut"]) == (len(out), _size(out))
    assert (read["parseErrors"], read["nullKeys"], read["numErrors"]) == (1, 1, 2)
    assert read["pendingRecords"] == 0
    assert 0 <= read["currentFetchEventTimeLag"] <= (time.time() - begun + 60) * 1_000
    assert read["currentFetchEventTimeLag"] == read["currentEmitEventTimeLag"]
    assert 0 <= read["sourceIdleTime"] <= (time.time() - begun) * 1_000
    assert written["currentSendTime"] >= 0
    # Rows of the last key per value kept by the normalizer, and one per group.
    assert query["stateRows"] == 199 + 7
    assert query["stateBytes"] > 0
    assert begun <= query["lastCheckpoint"] <= time.time() + 1


@pytest.mark.parametrize("mode", ["micro-batch", "real-time"])
def test_served_while_a_job_runs(mode: str, broker: Broker, topic: Topics, tmp_path: Path) -> None:
    source = topic("changes", partitions=2)
    rows = _input(50)
    job = Cli.start(
        *("run", write(tmp_path / "job.sql", SCRIPT), "--checkpoint", str(tmp_path / "c")),
        *("--var", f"source={source}", "--var", f"servers={broker.bootstrap_servers}"),
        *("--set", f"execution.mode={mode}", "--set", "execution.checkpointing.interval=5 s"),
        *("--set", "parallelism.default=1", "--metrics-port", "0"),
    )
    try:
        assert job.process.stderr is not None
        line = next(line for line in job.process.stderr if line.startswith("metrics at "))
        url = line.split()[-1]
        produce(broker.bootstrap_servers, source, rows)
        _until(url, f'streamtable_numRecordsIn{{table="t"}} {len(rows)}', job)
        _until(url, f'streamtable_numBytesIn{{table="t"}} {_size(rows)}', job)
        _until(url, 'streamtable_pendingRecords{table="t"} 0', job)
        _until(url, lambda: f'streamtable_numRecordsOut{{table="o"}} {_count(broker, source)}', job)
    finally:
        job.kill()


def _count(broker: Broker, source: str) -> int:
    return len(records(broker, f"{source}-out"))


def _until(url: str, expected: str | Callable[[], str], job: Cli) -> None:
    deadline = time.monotonic() + 120
    while True:
        line = expected if isinstance(expected, str) else expected()
        with urllib.request.urlopen(url, timeout=60) as answer:  # noqa: S310 - our own
            lines = answer.read().decode().splitlines()
        if line in lines:
            return
        assert job.process.poll() is None
        assert time.monotonic() < deadline, (line, lines)
        time.sleep(0.3)
