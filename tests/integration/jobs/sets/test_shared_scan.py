"""A statement set reads its topic once: rows, metrics, added and removed INSERTs, proofs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner
from confluent_kafka import TIMESTAMP_CREATE_TIME
from tests.integration.jobs.sets.support import (
    DOUBLED,
    EVEN,
    LATE,
    SINKS,
    expected,
    rows,
    script,
    values_in,
)

from streamtable.cli.main import cli
from streamtable.testing.jobs import BoundedRun
from streamtable.testing.topics import produce, produce_json, records

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker


def _queries(checkpoint: Path) -> set[str]:
    """Return the names of the query directories."""
    return {path.name for path in checkpoint.iterdir() if (path / "offsets").is_dir()}


def test_one_query_writes_all_sinks(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    servers, source = broker.bootstrap_servers, topic("set", partitions=2)
    job = BoundedRun(spark, script(), tmp_path / "c", {"source": source, "servers": servers})
    for start, end in ((0, 60), (60, 100)):
        produce_json(servers, source, rows(start, end))
        job()
        metrics = job.metrics.values()
        # The source is read once, not once for each INSERT.
        assert metrics["tables"]["t"]["numRecordsIn"] == end - start
        assert metrics["tables"]["doubled"]["numRecordsOut"] == end - start
        assert set(metrics["queries"]) == {*SINKS}
    assert {sink: values_in(servers, source, sink) for sink in SINKS} == expected(100)
    assert _queries(tmp_path / "c") == {"statement-set"}
    sent = {json.loads(r.value())["id"]: r.timestamp() for r in records(servers, source)}
    for record in records(servers, f"{source}-late"):
        row = json.loads(record.value())
        assert record.headers() == [("k", row["w"].encode())]
        assert record.timestamp() == (TIMESTAMP_CREATE_TIME, sent[row["id"]][1])
    for record in records(servers, f"{source}-doubled"):
        assert record.headers() is None
        assert json.loads(record.key()) == {"id": json.loads(record.value())["id"]}


def test_inserts_are_removed_and_added(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    servers, source = broker.bootstrap_servers, topic("set")
    names = {"source": source, "servers": servers}
    steps = [
        ((0, 20), (EVEN, LATE, DOUBLED), {"statement-set"}),
        ((20, 40), (DOUBLED, LATE), {"statement-set"}),
        ((40, 60), (DOUBLED, EVEN, LATE), {"statement-set", "even"}),
    ]
    for (start, end), inserts, queries in steps:
        produce_json(servers, source, rows(start, end))
        BoundedRun(spark, script(*inserts), tmp_path / "c", names)()
        assert _queries(tmp_path / "c") == queries
    now = expected(60)
    # The INSERT into `even` was removed while its query continued. Added again, it starts at the
    # beginning of the topic.
    now["even"] += expected(20)["even"]
    assert {sink: values_in(servers, source, sink) for sink in SINKS} == now


def test_a_checkpoint_keeps_a_query_per_insert(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    servers, source = broker.bootstrap_servers, topic("set")
    job = BoundedRun(spark, script(), tmp_path / "c", {"source": source, "servers": servers})
    produce_json(servers, source, rows(0, 20))
    job({"table.optimizer.reuse-source-enabled": "false"})
    produce_json(servers, source, rows(20, 40))
    job()
    assert _queries(tmp_path / "c") == {*SINKS}
    assert {sink: values_in(servers, source, sink) for sink in SINKS} == expected(40)


UPSERTS = """
CREATE TABLE t (k INT, v STRING, PRIMARY KEY (k) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${source}',
  'properties.bootstrap.servers' = '${servers}', 'key.format' = 'json', 'value.format' = 'json'
);
CREATE TABLE same (k INT, v STRING, PRIMARY KEY (k) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${source}-same',
  'properties.bootstrap.servers' = '${servers}', 'key.format' = 'json', 'value.format' = 'json'
);
CREATE TABLE upper (k INT, v STRING, PRIMARY KEY (k) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${source}-upper',
  'properties.bootstrap.servers' = '${servers}', 'key.format' = 'json', 'value.format' = 'json'
);
EXECUTE STATEMENT SET BEGIN
INSERT INTO same SELECT k, v FROM t;
INSERT INTO upper SELECT k, UPPER(v) FROM t WHERE k > 1;
END;
"""


def _record(k: int, v: str | None) -> tuple[bytes, bytes | None]:
    value = None if v is None else json.dumps({"k": k, "v": v}).encode()
    return json.dumps({"k": k}).encode(), value


def test_deletes_reach_every_sink_and_the_job_is_proved(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    servers, source = broker.bootstrap_servers, topic("changes")
    names = {"source": source, "servers": servers}
    job = BoundedRun(spark, UPSERTS, tmp_path / "c", names)
    for changes in ({1: "a", 2: "b", 3: None}, {1: None, 3: "c"}):
        produce(servers, source, (_record(k, v) for k, v in changes.items()))
        job()
    assert {k: row["v"] for (k,), row in job.rows("same").items()} == {2: "b", 3: "c"}
    assert {k: row["v"] for (k,), row in job.rows("upper").items()} == {2: "B", 3: "C"}
    file = tmp_path / "job.sql"
    file.write_text(UPSERTS)
    variables = [part for n, v in names.items() for part in ("--var", f"{n}={v}")]
    arguments = ["prove", str(file), "--checkpoint", str(tmp_path / "c"), *variables]
    found = CliRunner().invoke(cli, arguments)
    assert found.exit_code == 0, found.output
    assert found.output.count(": 2 keys, 5 offsets, 0 differ") == 2, found.output


@pytest.mark.soak
@pytest.mark.parametrize("mode", ["real-time", "auto"])
def test_a_shared_scan_in_real_time_and_auto_mode(
    mode: str, spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    """The second run continues the checkpoint of the first run after a stop."""
    servers, source = broker.bootstrap_servers, topic("set", partitions=2)
    job = BoundedRun(spark, script(), tmp_path / "c", {"source": source, "servers": servers})
    seen: set[str] = set()
    for start, end in ((0, 30), (30, 50)):
        produce_json(servers, source, rows(start, end))

        def done(count: int = end - start) -> bool:
            found = job.metrics.values()
            seen.update(str(query["mode"]) for query in found["queries"].values())
            written = found["tables"].get("doubled", {}).get("numRecordsOut", 0)
            return "real-time" in seen and written >= count

        job.until(done, {"execution.mode": mode})
    for sink, values in expected(50).items():
        assert values <= values_in(servers, source, sink)
    assert _queries(tmp_path / "c") == {"statement-set"}
