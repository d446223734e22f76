"""Auto mode: micro-batches over a backlog, real-time after it, one exact table throughout."""

from __future__ import annotations

import random
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.jobs.support import Cli, write
from tests.integration.jobs.test_real_time import until

from streamtable.testing.jobs import BoundedRun
from streamtable.testing.topics import produce_json

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

#: Over changes auto mode stays in micro-batches (`plan.repeats`).
SCRIPT = """
CREATE TABLE t (g STRING, v INT) WITH (
  'connector' = 'kafka', 'topic' = '${source}', 'scan.startup.mode' = 'earliest-offset',
  'properties.bootstrap.servers' = '${servers}', 'format' = 'json'
);
CREATE TABLE o (g STRING, n BIGINT, hi INT, PRIMARY KEY (g) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${source}-out',
  'properties.bootstrap.servers' = '${servers}',
  'key.format' = 'json', 'value.format' = 'json'
);
INSERT INTO o SELECT g, COUNT(*), MAX(v) FROM t WHERE v > 1 GROUP BY g;
"""


def random_rows(seed: int, count: int) -> list[dict[str, Any]]:
    source = random.Random(seed)
    return [{"g": source.choice("abcde"), "v": source.randrange(1_000)} for _ in range(count)]


def answer(rows: list[dict[str, Any]]) -> dict[tuple[Any, ...], dict[str, Any]]:
    groups: dict[str, list[int]] = {}
    for row in rows:
        if row["v"] > 1:
            groups.setdefault(row["g"], []).append(row["v"])
    return {(g,): {"g": g, "n": len(v), "hi": max(v)} for g, v in groups.items()}


def test_catches_up_goes_on_in_real_time_and_survives_a_kill(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    servers = broker.bootstrap_servers
    source = topic("history", partitions=2)
    job = BoundedRun(spark, SCRIPT, tmp_path / "c", {"source": source, "servers": servers})
    history = random_rows(47, 300)
    arguments = ["run", write(tmp_path / "job.sql", SCRIPT), "--checkpoint", str(tmp_path / "c")]
    arguments += ["--var", f"source={source}", "--var", f"servers={servers}"]
    arguments += ["--set", "execution.micro-batch.max-records=50"]
    arguments += ["--set", "execution.checkpointing.interval=5 s"]

    produce_json(servers, source, history[:200])
    process = Cli.start(*arguments)
    until(job, answer(history[:200]), process)
    process.wait_for("goes on in real-time")
    produce_json(servers, source, history[200:250])
    until(job, answer(history[:250]), process)
    process.kill()

    process = Cli.start(*arguments)
    feeding = threading.Timer(1, produce_json, (servers, source, history[250:]))
    feeding.start()
    until(job, answer(history), process)
    feeding.join()
    process.terminate()
    assert process.end()[0] == 0
    job()
    assert job.rows("o") == answer(history)


@pytest.mark.soak
def test_twenty_changes_of_mode_in_one_history(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    servers = broker.bootstrap_servers
    source = topic("history", partitions=2)
    job = BoundedRun(spark, SCRIPT, tmp_path / "c", {"source": source, "servers": servers})
    history = random_rows(48, 40_000)
    # Behind by one record at a checkpoint is enough to leave real-time mode.
    process = Cli.start(
        *("run", write(tmp_path / "job.sql", SCRIPT), "--checkpoint", str(tmp_path / "c")),
        *("--var", f"source={source}", "--var", f"servers={servers}"),
        *("--set", "execution.auto.lag=0", "--set", "execution.checkpointing.interval=5 s"),
    )
    process.wait_for("running")
    done = threading.Event()

    def feed() -> None:
        source_of_chance = random.Random(48)
        sent = 0
        while sent < len(history) and not done.is_set():
            piece = source_of_chance.randrange(1, 60)
            produce_json(servers, source, history[sent : sent + piece])
            sent += piece
        produce_json(servers, source, history[sent:])

    feeding = threading.Thread(target=feed)
    feeding.start()
    try:
        for _ in range(10):
            process.wait_for("goes on in real-time")
            process.wait_for("catches up in micro-batches")
    finally:
        done.set()
        feeding.join()
    until(job, answer(history), process)
    process.terminate()
    assert process.end()[0] == 0
    job()
    assert job.rows("o") == answer(history)
