"""All answers stay exact if the state of a checkpoint is repartitioned between two runs."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.integration.differential.topics.on_kafka import (
    ALL_DELETED,
    QUERIES,
    KafkaJob,
    histories,
)
from tests.integration.jobs.support import Cli

from streamtable.core.errors import Condition, StreamtableError
from streamtable.jvm.bridge import Bridge
from streamtable.jvm.streaming.planned_batches import newest_batch
from streamtable.jvm.streaming.state_partitions import repartition
from streamtable.runtime.checkpoint.rescale import open_rescale
from streamtable.testing.answers import set_for_a_while
from streamtable.testing.jobs import BoundedRun
from streamtable.testing.topics import produce_json, records

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker


def _rescale(spark: SparkSession, checkpoint: Path, to: int) -> list[str]:
    """Rescale in this process, and return the queries whose state has been repartitioned."""
    bridge = Bridge(spark)
    with open_rescale(str(checkpoint), to, lambda _: None) as rescale:
        names = [query.name for query in rescale.due]
        rescale.run(lambda directory, n: repartition(bridge, directory, n), lambda _: None)
    return names


def _tasks(checkpoint: Path, query: str) -> int:
    """Return the number of state partitions of a query's newest batch, from Spark's offset log."""
    log = checkpoint / query / "offsets"
    entry = (log / str(newest_batch(log))).read_text().splitlines()[1]
    return int(json.loads(entry)["conf"]["spark.sql.shuffle.partitions"])


#: A rescale of the other queries too takes minutes.
_QUICK = ("groups",)


@pytest.mark.parametrize(
    ("seed", "names"),
    [
        (41, _QUICK),
        *(pytest.param(seed, tuple(QUERIES), marks=pytest.mark.soak) for seed in range(41, 50)),
    ],
)
def test_answers_stay_exact_over_more_and_fewer_partitions(
    seed: int,
    names: tuple[str, ...],
    spark: SparkSession,
    broker: Broker,
    topic: Topics,
    tmp_path: Path,
) -> None:
    queries = {name: QUERIES[name] for name in names}
    job = KafkaJob(spark, broker.bootstrap_servers, topic, tmp_path, queries)
    checkpoint = tmp_path / "checkpoint"
    dice = random.Random(seed)
    cut = histories(seed, cuts=2)
    for piece in range(2):
        for name in cut:
            job.feed(name, cut[name][piece])
        job.run(dice.choice([1_000, 70]))
        assert not job.wrong(job.answers()), f"seed {seed}, piece {piece}"
        before = _tasks(checkpoint, "groups")
        to = before + dice.randrange(1, 4) if piece == 0 else 1
        state = job.state_rows()
        assert set(_rescale(spark, checkpoint, to)) == {n for n in names if _has_state(job, n)}
        assert job.state_rows() == state
        assert not _rescale(spark, checkpoint, to)
        assert _tasks(checkpoint, "groups") == to
    for name in cut:
        job.feed(name, ALL_DELETED)
    job.run(1_000)
    assert _tasks(checkpoint, "groups") == 1
    assert not job.wrong(job.answers()), f"seed {seed}, all deleted"
    assert not job.state_rows()


def test_a_checkpoint_keeps_its_original_codec(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    codec = "spark.sql.streaming.stateStore.compression.codec"
    assert spark.conf.get(codec) == "zstd", "the default of jobs"
    queries = {"groups": QUERIES["groups"]}
    job = KafkaJob(spark, broker.bootstrap_servers, topic, tmp_path, queries)
    cut = histories(7, cuts=2)
    for name in cut:
        job.feed(name, cut[name][0])
    with set_for_a_while(spark, {codec: "lz4"}):
        job.run(70)
    state = job.state_rows()
    assert state
    assert _rescale(spark, tmp_path / "checkpoint", 5) == ["groups"]
    assert job.state_rows() == state
    for name in cut:
        job.feed(name, cut[name][1])
    job.run(70)
    assert not job.wrong(job.answers())
    newest = max((tmp_path / "checkpoint/groups/offsets").glob("[0-9]*"), key=lambda f: int(f.name))
    assert json.loads(newest.read_text().splitlines()[1])["conf"][codec] == "lz4"


def _has_state(job: KafkaJob, query: str) -> bool:
    return (job.directory / "checkpoint" / query / "state").exists()


_WINDOWS = """
CREATE TABLE t (k INT, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH (
  'connector' = 'kafka', 'topic' = '${source}', 'scan.startup.mode' = 'earliest-offset',
  'properties.bootstrap.servers' = '${servers}', 'format' = 'json'
);
CREATE TABLE o (k INT, e TIMESTAMP(3), n BIGINT) WITH (
  'connector' = 'kafka', 'topic' = '${source}-out',
  'properties.bootstrap.servers' = '${servers}', 'format' = 'json',
  'sink.delivery-guarantee' = 'exactly-once', 'sink.transactional-id-prefix' = '${source}-txn'
);
INSERT INTO o SELECT k, window_end, COUNT(*) FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts),
  INTERVAL '10' SECOND)) GROUP BY k, window_start, window_end;
"""


def test_windows_and_transactions_continue(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    """Timers move with their keys, and each window is written once.

    Transactions use new and reused transactional ids.
    """
    source = topic("times")
    names = {"source": source, "servers": broker.bootstrap_servers}
    job = BoundedRun(spark, _WINDOWS, tmp_path / "c", names)
    expected: Counter[tuple[int, str]] = Counter()
    for step, to in enumerate([5, 2, 0]):
        rows = [
            {"k": i % 23, "v": i, "ts": f"2026-01-01 00:00:{10 * step + i % 10:02}.000"}
            for i in range(200)
        ]
        produce_json(broker.bootstrap_servers, source, rows)
        expected.update((row["k"], step) for row in rows)
        job(drain=to == 0)
        if to:
            assert _rescale(spark, tmp_path / "c", to) == ["o"]
    found = [json.loads(value) for value in _values(broker.bootstrap_servers, f"{source}-out")]
    windows = Counter((row["k"], int(row["e"][17:19]) // 10 - 1) for row in found)
    assert set(windows.values()) == {1}, "each window once"
    assert {(row["k"], int(row["e"][17:19]) // 10 - 1): row["n"] for row in found} == expected


def _values(servers: str, topic: str) -> list[bytes]:
    return [value for message in records(servers, topic) if (value := message.value())]


def test_a_killed_rescale_is_completed_by_the_next_call(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    queries = {name: QUERIES[name] for name in ("groups", "shared")}
    job = KafkaJob(spark, broker.bootstrap_servers, topic, tmp_path, queries)
    cut = histories(7, cuts=2)
    for name in cut:
        job.feed(name, cut[name][0])
    job.run(1_000)
    checkpoint = tmp_path / "checkpoint"
    arguments = ["rescale", "--checkpoint", str(checkpoint), "--to", "5", "--master", "local[2]"]

    killed = Cli.start(*arguments)
    log = checkpoint / "groups" / "offsets"
    planned = newest_batch(log)
    killed.until(lambda: newest_batch(log) != planned, pause=0.01)
    killed.kill()

    with pytest.raises(StreamtableError) as refused:
        job.run(1_000)
    assert refused.value.condition is Condition.CHECKPOINT_UNREADABLE
    assert f"streamtable rescale --checkpoint {checkpoint} --to 5" in str(refused.value)
    assert "shared" in _rescale(spark, checkpoint, 5)
    for name in cut:
        job.feed(name, cut[name][1])
    job.run(1_000)
    assert {_tasks(checkpoint, name) for name in queries} == {5}
    assert not job.wrong(job.answers())
