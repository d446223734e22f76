"""Auto mode: micro-batches over a backlog, then real-time mode; the table is exact throughout."""

from __future__ import annotations

import random
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka.admin import AdminClient, NewTopic
from tests.integration.jobs.modes.test_real_time import until
from tests.integration.jobs.support import Cli, write

from streamtable.testing.jobs import BoundedRun
from streamtable.testing.topics import produce, produce_json

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

#: HAVING inserts and deletes rows as a group grows. Auto mode runs such a query in real-time mode,
#: because it rolls back the sink.
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
INSERT INTO o SELECT g, COUNT(*), MAX(v) FROM t WHERE v > 1 GROUP BY g HAVING MOD(COUNT(*), 3) > 0;
"""


def random_rows(seed: int, count: int) -> list[dict[str, Any]]:
    source = random.Random(seed)
    return [{"g": source.choice("abcde"), "v": source.randrange(1_000)} for _ in range(count)]


def answer(rows: list[dict[str, Any]]) -> dict[tuple[Any, ...], dict[str, Any]]:
    groups: dict[str, list[int]] = {}
    for row in rows:
        if row["v"] > 1:
            groups.setdefault(row["g"], []).append(row["v"])
    return {(g,): {"g": g, "n": len(v), "hi": max(v)} for g, v in groups.items() if len(v) % 3 > 0}


@pytest.mark.real_time_state
@pytest.mark.parametrize("again", [False, pytest.param(True, marks=pytest.mark.soak)])
def test_auto_mode_catches_up_and_survives_a_kill(
    again: bool, spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    """A job catches up, continues in real-time mode and survives a kill.

    The topic of the sink exists, and brokers may compact it at once. With `again`, the job
    continues in a second process.
    """
    servers = broker.bootstrap_servers
    source = topic("history", partitions=2)
    admin = AdminClient({"bootstrap.servers": servers})
    sink = NewTopic(f"{source}-out", 2, config={"cleanup.policy": "compact"})
    admin.create_topics([sink])[sink.topic].result(30)
    job = BoundedRun(spark, SCRIPT, tmp_path / "c", {"source": source, "servers": servers})
    history = random_rows(47, 300)
    arguments = ["run", write(tmp_path / "job.sql", SCRIPT), "--checkpoint", str(tmp_path / "c")]
    arguments += ["--var", f"source={source}", "--var", f"servers={servers}"]
    arguments += ["--set", "execution.micro-batch.max-records=50"]
    arguments += ["--set", "execution.checkpointing.interval=5 s"]

    produce_json(servers, source, history[:200])
    process = Cli.start(*arguments)
    until(job, answer(history[:200]), process)
    process.wait_for("switches to real-time mode")
    process.wait_for(f"set 'min.compaction.lag.ms' of topic '{sink.topic}' to '3600000'")
    produce_json(servers, source, history[200:250])
    until(job, answer(history[:250]), process)
    process.kill()

    feeding = threading.Timer(1, produce_json, (servers, source, history[250:]))
    feeding.start()
    if again:
        process = Cli.start(*arguments)
        until(job, answer(history), process)
        process.terminate_all()
        code, _, told = process.end()
        assert code == 0, told
    feeding.join()
    job()
    assert job.rows("o") == answer(history)


@pytest.mark.real_time_state
def test_a_second_writer_of_the_sink_ends_real_time_mode(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    servers = broker.bootstrap_servers
    source = topic("history", partitions=1)
    job = BoundedRun(spark, SCRIPT, tmp_path / "c", {"source": source, "servers": servers})
    process = Cli.start(
        *("run", write(tmp_path / "job.sql", SCRIPT), "--checkpoint", str(tmp_path / "c")),
        *("--var", f"source={source}", "--var", f"servers={servers}"),
        *("--set", "parallelism.default=1", "--set", "execution.checkpointing.interval=5 s"),
    )
    process.wait_for("switches to real-time mode")
    produce_json(servers, source, [{"g": g, "v": 7} for g in "aabbb"])
    wanted = {("a",): {"g": "a", "n": 2, "hi": 7}}
    until(job, wanted, process)
    theirs = b'{"g":"z","n":1,"hi":1}'
    produce(servers, f"{source}-out", [(b'{"g":"z"}', theirs)])
    process.wait_for(f"topic '{source}-out' has another writer")
    process.kill()

    # The next start rolls nothing back, and reports why the job stays in micro-batches.
    produce_json(servers, source, [{"g": "b", "v": 8}])
    job()
    assert job.rows("o") == {
        **wanted,
        ("b",): {"g": "b", "n": 4, "hi": 8},
        ("z",): {"g": "z", "n": 1, "hi": 1},
    }
    process = Cli.start(
        *("run", write(tmp_path / "job.sql", SCRIPT), "--checkpoint", str(tmp_path / "c")),
        *("--var", f"source={source}", "--var", f"servers={servers}"),
        *("--set", "parallelism.default=1"),
    )
    process.wait_for("stays in micro-batches")
    process.kill()


@pytest.mark.soak
@pytest.mark.real_time_state
def test_twenty_changes_of_mode_in_one_history(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    servers = broker.bootstrap_servers
    source = topic("history", partitions=2)
    job = BoundedRun(spark, SCRIPT, tmp_path / "c", {"source": source, "servers": servers})
    dice = random.Random(48)
    sent: list[dict[str, Any]] = []
    flows, done = threading.Event(), threading.Event()

    def feed() -> None:
        while not done.wait(0.05):
            if flows.is_set():
                piece = random_rows(dice.randrange(10**9), dice.randrange(1, 60))
                sent.extend(piece)
                produce_json(servers, source, piece)

    # A lag of one record at a checkpoint is enough to leave real-time mode.
    process = Cli.start(
        *("run", write(tmp_path / "job.sql", SCRIPT), "--checkpoint", str(tmp_path / "c")),
        *("--var", f"source={source}", "--var", f"servers={servers}"),
        *("--set", "execution.auto.lag=0", "--set", "execution.checkpointing.interval=5 s"),
    )
    feeding = threading.Thread(target=feed)
    feeding.start()
    try:
        for _ in range(10):
            process.wait_for("switches to real-time mode")
            flows.set()
            process.wait_for("catches up in micro-batches")
            flows.clear()
    finally:
        done.set()
        feeding.join()
    until(job, answer(sent), process)
    process.terminate()
    assert process.end()[0] == 0
    job()
    assert job.rows("o") == answer(sent)
