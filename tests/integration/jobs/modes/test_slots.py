"""Task slots of real-time mode: counted before the start, and too few while a job runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from confluent_kafka.admin import AdminClient, NewPartitions
from tests.integration.jobs.modes.test_real_time import until
from tests.integration.jobs.support import Cli, write

from streamtable.testing.jobs import BoundedRun
from streamtable.testing.topics import produce_json

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

_COUNTS = """
CREATE TABLE t (g STRING) WITH (
  'connector' = 'kafka', 'topic' = '${source}', 'scan.startup.mode' = 'earliest-offset',
  'properties.bootstrap.servers' = '${servers}', 'format' = 'json'
);
CREATE TABLE m (g STRING, n BIGINT, PRIMARY KEY (g) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${source}-m', 'sink.topic.partitions' = '5',
  'properties.bootstrap.servers' = '${servers}', 'key.format' = 'json', 'value.format' = 'json'
);
CREATE TABLE o (n BIGINT, g BIGINT, PRIMARY KEY (n) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${source}-out',
  'properties.bootstrap.servers' = '${servers}', 'key.format' = 'json', 'value.format' = 'json'
);
INSERT INTO m SELECT g, COUNT(*) FROM t GROUP BY g;
INSERT INTO o SELECT n, COUNT(*) FROM m GROUP BY n;
"""
_COPY = """
CREATE TABLE t (id INT) WITH (
  'connector' = 'kafka', 'topic' = '${source}', 'scan.startup.mode' = 'earliest-offset',
  'properties.bootstrap.servers' = '${servers}', 'format' = 'json'
);
CREATE TABLE o (id INT, PRIMARY KEY (id) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${source}-out',
  'properties.bootstrap.servers' = '${servers}', 'key.format' = 'json', 'value.format' = 'json'
);
INSERT INTO o SELECT id FROM t;
"""


def test_slots_include_the_partitions_of_created_topics(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    source, servers = topic("s"), broker.bootstrap_servers
    job = BoundedRun(spark, _COUNTS, tmp_path / "c", {"source": source, "servers": servers})
    process = Cli.start(
        *("run", write(tmp_path / "job.sql", _COUNTS), "--checkpoint", str(tmp_path / "c")),
        *("--var", f"source={source}", "--var", f"servers={servers}"),
        *("--set", "parallelism.default=1", "--set", "execution.mode=real-time"),
    )
    process.wait_for("running")
    produce_json(servers, source, [{"g": g} for g in "aabbc"])
    until(job, {(2,): {"n": 2, "g": 2}, (1,): {"n": 1, "g": 1}}, process)
    process.kill()


def test_auto_mode_leaves_real_time_if_a_topic_outgrows_the_slots(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    source, servers = topic("s", partitions=2), broker.bootstrap_servers
    job = BoundedRun(spark, _COPY, tmp_path / "c", {"source": source, "servers": servers})
    process = Cli.start(
        *("run", write(tmp_path / "job.sql", _COPY), "--checkpoint", str(tmp_path / "c")),
        *("--var", f"source={source}", "--var", f"servers={servers}"),
        *("--set", "parallelism.default=1", "--set", "execution.checkpointing.interval=5 s"),
    )
    process.wait_for("switches to real-time mode")
    admin = AdminClient({"bootstrap.servers": servers})
    admin.create_partitions([NewPartitions(source, 12)])[source].result(30)
    produce_json(servers, source, [{"id": i} for i in range(100)])
    process.wait_for("stays in micro-batches: NOT_ENOUGH_SLOTS: real-time mode runs 12 tasks")
    until(job, {(i,): {"id": i} for i in range(100)}, process)
    process.terminate_all()
    code, _, told = process.end()
    assert code == 0, told
