"""Auto mode: micro-batches over a backlog, real-time after it, one exact table throughout."""

from __future__ import annotations

import random
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.integration.jobs.support import Cli, write
from tests.integration.jobs.test_real_time import SCRIPT, answer, until, values

from streamtable.testing.histories import random_history
from streamtable.testing.jobs import BoundedRun
from streamtable.testing.topics import produce_changes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker


def test_catches_up_goes_on_in_real_time_and_survives_a_kill(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    servers = broker.bootstrap_servers
    source = topic("history", partitions=2)
    job = BoundedRun(spark, SCRIPT, tmp_path / "c", {"source": source, "servers": servers})
    history = random_history(47, length=300, keys=20, make=values)
    arguments = ["run", write(tmp_path / "job.sql", SCRIPT), "--checkpoint", str(tmp_path / "c")]
    arguments += ["--var", f"source={source}", "--var", f"servers={servers}"]
    arguments += ["--set", "execution.micro-batch.max-records=50"]
    arguments += ["--set", "execution.checkpointing.interval=5 s"]

    produce_changes(servers, source, "k", history[:200])
    process = Cli.start(*arguments)
    until(job, answer(history[:200]), process)
    process.wait_for("goes on in real-time")
    produce_changes(servers, source, "k", history[200:250])
    until(job, answer(history[:250]), process)
    process.kill()

    process = Cli.start(*arguments)
    feeding = threading.Timer(1, produce_changes, (servers, source, "k", history[250:]))
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
    history = random_history(48, length=40_000, keys=200, make=values)
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
            produce_changes(servers, source, "k", history[sent : sent + piece])
            sent += piece
        produce_changes(servers, source, "k", history[sent:])

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
