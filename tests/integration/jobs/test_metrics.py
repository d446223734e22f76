"""Metrics of real jobs agree with the produced and consumed records, in both execution modes."""

from __future__ import annotations

import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from confluent_kafka import Producer
from tests.integration.jobs.support import PATIENCE_S, Cli, write

from streamtable.runtime.job import RunOptions
from streamtable.runtime.outline import reported_job
from streamtable.runtime.status.views import operators_of, slowest
from streamtable.session import Session
from streamtable.testing.jobs import BoundedRun
from streamtable.testing.topics import produce, records

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker
    from streamtable.runtime.background import Job

_COUNTED = "state.backend.rocksdb.metrics.estimate-num-keys"

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


def test_metrics_equal_the_records_of_the_topics(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    source = topic("changes", partitions=2)
    rows = _input(200)
    produce(broker.bootstrap_servers, source, rows)
    job = BoundedRun(
        spark, SCRIPT, tmp_path / "c", {"source": source, "servers": broker.bootstrap_servers}
    )
    begun = time.time()
    job({"execution.micro-batch.max-records": "60", _COUNTED: "true"})
    values = job.metrics.values()
    read, written, query = values["tables"]["t"], values["tables"]["o"], values["queries"]["o"]
    out = [(r.key(), r.value()) for r in records(broker.bootstrap_servers, f"{source}-out")]
    assert (read["numRecordsIn"], read["numBytesIn"]) == (len(rows), _size(rows))
    assert (written["numRecordsOut"], written["numBytesOut"]) == (len(out), _size(out))
    assert (read["parseErrors"], read["nullKeys"], read["numErrors"]) == (1, 1, 2)
    assert read["pendingRecords"] == 0
    assert 0 <= read["currentFetchEventTimeLag"] <= (time.time() - begun + 60) * 1_000
    assert read["currentFetchEventTimeLag"] == read["currentEmitEventTimeLag"]
    assert 0 <= read["sourceIdleTime"] <= (time.time() - begun) * 1_000
    assert written["currentSendTime"] >= 0
    # The normalizer keeps the last row of each of 199 keys, and the aggregate one row per group.
    assert query["stateRows"] == 199 + 7
    session = Session()
    session.load(SCRIPT, "t.sql", {"source": source, "servers": broker.bootstrap_servers})
    named = {plan.table.name: plan for plan in session.plans}
    outline = reported_job(named, session.settings.current(), tmp_path, temporary=False)
    operators = operators_of(query, outline.queries["o"]["operators"])
    found = [(each.name, each.rows) for each in operators]
    assert found == [("GroupAggregate", 7), ("ChangelogNormalize", 199)]
    assert slowest(operators) in operators
    assert query["stateBytes"] > 0
    assert begun <= query["lastCheckpoint"] <= time.time() + 1


def test_a_record_of_the_future_does_not_stop_the_lags(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    """The lags are those of the last record, in the batch of a future record or a later one."""
    source = topic("changes", config={"message.timestamp.after.max.ms": str(2**62)})
    servers, begun = broker.bootstrap_servers, time.time()
    producer = Producer({"bootstrap.servers": servers})
    year_ms = 365 * 86_400_000
    for k, ahead_ms in enumerate((0, year_ms, -5_000)):
        at = round(begun * 1_000) + ahead_ms
        producer.produce(source, b'{"k":%d,"g":1}' % k, b'{"k":%d}' % k, timestamp=at)
    assert producer.flush(30) == 0
    job = BoundedRun(spark, SCRIPT, tmp_path / "c", {"source": source, "servers": servers})
    for records_of_batch in ("2", "1000"):
        job({"execution.micro-batch.max-records": records_of_batch})
        read = job.metrics.values()["tables"]["t"]
        took = (time.time() - begun) * 1_000
        assert 5_000 <= read["currentFetchEventTimeLag"] <= took + 5_000
        assert 0 <= read["sourceIdleTime"] <= took
        job = BoundedRun(spark, SCRIPT, tmp_path / "d", {"source": source, "servers": servers})


def test_state_rows_are_counted_only_if_enabled(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    """Counting may be turned on, off and on again on one checkpoint."""
    source = topic("changes", partitions=2)
    servers = broker.bootstrap_servers
    job = BoundedRun(spark, SCRIPT, tmp_path / "c", {"source": source, "servers": servers})
    found = []
    for run, settings in enumerate(({_COUNTED: "true"}, {}, {_COUNTED: "true"})):
        keys = range(50 * run, 50 * run + 50)
        produce(servers, source, [(b'{"k":%d}' % k, b'{"k":%d,"g":%d}' % (k, k % 7)) for k in keys])
        job(settings)
        found.append(job.metrics.values()["queries"]["o"]["stateRows"])
    assert found == [50 + 7, None, 150 + 7]


WINDOWS = """
SET 'state.backend.rocksdb.metrics.estimate-num-keys' = 'true';
CREATE TABLE v (g INT, at TIMESTAMP(3), WATERMARK FOR at AS at - INTERVAL '1' SECOND) WITH (
  'connector' = 'kafka', 'topic' = '${source}',
  'properties.bootstrap.servers' = '${servers}', 'scan.startup.mode' = 'earliest-offset',
  'format' = 'json', 'scan.dead-letter.topic' = '${source}-dead'
);
CREATE TABLE w (at TIMESTAMP(3), n BIGINT, PRIMARY KEY (at) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${source}-out',
  'properties.bootstrap.servers' = '${servers}', 'key.format' = 'json', 'value.format' = 'json'
);
INSERT INTO w SELECT window_start, COUNT(*)
FROM TABLE(TUMBLE(TABLE v, DESCRIPTOR(at), INTERVAL '10' SECOND))
GROUP BY window_start, window_end;
"""


def _view(second: int) -> tuple[bytes | None, bytes | None]:
    return None, b'{"g":1,"at":"2026-01-01 00:%02d:%02d"}' % divmod(second, 60)


def test_metrics_of_a_job_in_the_background(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    """A job reports watermarks by partition, late rows and dead letters, and stops cleanly."""
    source = topic("views", partitions=2)
    session = Session()
    variables = {"source": source, "servers": broker.bootstrap_servers}
    session.load(WINDOWS, "w.sql", variables)
    job = session.start(RunOptions(checkpoint=str(tmp_path / "c")), lambda _: None, spark)
    try:
        rows = [_view(second) for second in (3, 40, 50)]
        produce(broker.bootstrap_servers, source, rows, partition=0)
        produce(broker.bootstrap_servers, source, [_view(25), (None, b"{")], partition=1)
        first = 1_767_225_600_000
        marks = {f"{source}-0": first + 49_000, f"{source}-1": first + 24_000}
        _metric(job, lambda now: now["queries"]["w"]["partitionWatermark"] == marks)
        _metric(job, lambda now: now["queries"]["w"]["watermark"] == "2026-01-01T00:00:24.000Z")
        _metric(job, lambda now: now["tables"]["w"]["numRecordsOut"] == 1)
        produce(broker.bootstrap_servers, source, [_view(4)], partition=0)
        now = _metric(job, lambda now: now["tables"]["v"]["lateRows"] == 1)
        read = now["tables"]["v"]
        assert (read["numRecordsIn"], read["deadLetters"], read["numErrors"]) == (6, 1, 1)
        assert now["queries"]["w"]["operators"][0]["stateRows"] == 3
        assert not job.wait(0)
    finally:
        job.stop()
        assert job.wait(60)
    assert not job.running


def _metric(job: Job, holds: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    deadline = time.monotonic() + PATIENCE_S
    while True:
        now = job.metrics()
        if now["queries"] and holds(now):
            return now
        assert job.running, job.wait(0)
        assert time.monotonic() < deadline, now
        time.sleep(0.1)


def test_metrics_are_served_in_real_time_mode(
    broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    source = topic("changes", partitions=2)
    rows = _input(50)
    job = Cli.start(
        *("run", write(tmp_path / "job.sql", SCRIPT), "--checkpoint", str(tmp_path / "c")),
        *("--var", f"source={source}", "--var", f"servers={broker.bootstrap_servers}"),
        *("--set", "execution.mode=real-time", "--set", "execution.checkpointing.interval=5 s"),
        *("--set", "parallelism.default=1", "--metrics-port", "0"),
    )
    try:
        assert job.process.stderr is not None
        line = next(line for line in job.process.stderr if line.startswith("metrics at "))
        url = line.split()[-1]
        produce(broker.bootstrap_servers, source, rows)
        _until(url, f'streamtable_numRecordsIn_total{{table="t"}} {len(rows)}.0', job)
        _until(url, f'streamtable_numBytesIn_total{{table="t"}} {_size(rows)}.0', job)
        _until(url, 'streamtable_pendingRecords{table="t"} 0.0', job)
        _until(
            url,
            lambda: f'streamtable_numRecordsOut_total{{table="o"}} {_count(broker, source)}.0',
            job,
        )
    finally:
        job.kill()


def _count(broker: Broker, source: str) -> int:
    return len(records(broker.bootstrap_servers, f"{source}-out"))


def _until(url: str, expected: str | Callable[[], str], job: Cli) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while True:
        line = expected if isinstance(expected, str) else expected()
        with urllib.request.urlopen(url, timeout=60) as answer:  # noqa: S310 - our own
            lines = answer.read().decode().splitlines()
        if line in lines:
            return
        assert job.process.poll() is None
        assert time.monotonic() < deadline, (line, lines)
        time.sleep(0.3)
