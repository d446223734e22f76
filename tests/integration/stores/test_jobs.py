"""Jobs with a checkpoint on HDFS or S3: restart, rescale, move, kill, pause, and a second job."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import threading
import time
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.event_time.support import SOURCE, TUMBLED, Event, millis, send
from tests.integration.jobs.support import PAGEVIEWS, Cli, page_views, recount, write

from streamtable.core.errors import Condition, StreamtableError
from streamtable.jvm.bridge import Bridge
from streamtable.jvm.streaming.state_partitions import repartition
from streamtable.runtime.checkpoint.rescale import open_rescale
from streamtable.runtime.checkpoint.storage.remote import RemoteCheckpoints
from streamtable.testing.jobs import BoundedRun
from streamtable.testing.topics import produce_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import SparkSession
    from tests.conftest import Topics
    from tests.integration.stores.servers import Store

    from streamtable.devbroker.broker import Broker

#: Seconds of a lease.
_LEASE_S = 6


@pytest.fixture
def names(broker: Broker, topic: Topics) -> dict[str, str]:
    source = topic("pageviews", partitions=2)
    return {"source": source, "out": f"{source}-out", "servers": broker.bootstrap_servers}


def _feed(names: dict[str, str], views: Sequence[dict[str, Any]]) -> None:
    produce_json(names["servers"], names["source"], views)


@pytest.mark.parametrize(
    "server", ["s3a", pytest.param("hdfs", marks=pytest.mark.soak)], indirect=True
)
def test_runs_continue_a_checkpoint_that_is_rescaled_and_moved(
    spark: SparkSession, store: Store, names: dict[str, str]
) -> None:
    views = list(page_views(31, count=300))
    job = BoundedRun(spark, PAGEVIEWS, store.root, names)
    for begin in range(0, 200, 100):
        _feed(names, views[begin : begin + 100])
        job()
    assert job.rows("pageviews_per_region") == recount(views[:200])

    bridge = Bridge(spark)
    told: list[str] = []
    remote = RemoteCheckpoints(bridge, timedelta(seconds=9), threading.Event(), told.append)
    with open_rescale(store.root, 3, told.append, remote) as rescale:
        rescale.run(partial(repartition, bridge), told.append)
    assert "pageviews_per_region: 2 -> 3 state partitions" in told
    path = bridge.java_class("org.apache.hadoop.fs.Path")
    hadoop = bridge.java_session.sessionState().newHadoopConf()
    files = path(store.root).getFileSystem(hadoop)
    files.rename(path(store.root), path(f"{store.root}-moved"))
    _feed(names, views[200:])
    moved = BoundedRun(spark, PAGEVIEWS, f"{store.root}-moved", names)
    moved()
    assert moved.rows("pageviews_per_region") == recount(views)
    # Each run reads only new records.
    assert moved.metrics.values()["tables"]["pageviews"]["numRecordsIn"] == 100


@pytest.mark.parametrize(
    "server", ["s3a", pytest.param("hdfs", marks=pytest.mark.soak)], indirect=True
)
def test_batches_note_the_watermarks_that_they_reach(
    spark: SparkSession, store: Store, broker: Broker, topic: Topics
) -> None:
    source, servers = topic("events"), broker.bootstrap_servers
    job = BoundedRun(spark, SOURCE + TUMBLED, store.root, {"source": source, "servers": servers})
    for begin in range(0, 60, 20):
        send(servers, source, [Event(s * 1000, 1, 1) for s in range(begin, begin + 20)])
        job()
    counts = {millis(row["s"]): row["n"] for row in job.rows("tumbled").values()}
    assert counts == dict.fromkeys(range(0, 50_000, 10_000), 10)
    path = Bridge(spark).java_class("org.apache.hadoop.fs.Path")(f"{store.root}/tumbled/reached")
    hadoop = Bridge(spark).java_session.sessionState().newHadoopConf()
    noted = path.getFileSystem(hadoop).listStatus(path)
    assert len(noted) == 2, "the last two batches"


def test_another_query_is_refused(spark: SparkSession, store: Store, names: dict[str, str]) -> None:
    _feed(names, list(page_views(32, count=10)))
    BoundedRun(spark, PAGEVIEWS, store.root, names)()
    changed = PAGEVIEWS.replace("COUNT(*)", "COUNT(*) + 1")
    with pytest.raises(StreamtableError) as refused:
        BoundedRun(spark, changed, store.root, names)()
    assert refused.value.condition is Condition.CHECKPOINT_MISMATCH


@dataclass
class _Jobs:
    """Start processes of one job on one checkpoint. Each process has a log."""

    store: Store
    names: dict[str, str]
    directory: Path
    options: Sequence[str]
    started: int = 0

    def arguments(self) -> list[str]:
        script = write(self.directory / "job.sql", PAGEVIEWS)
        found = ["run", script, "--checkpoint", self.store.root, *self.store.arguments()]
        found += ["--set", f"execution.checkpointing.lease={_LEASE_S} s", *self.options]
        for name, value in self.names.items():
            found += ["--var", f"{name}={value}"]
        return found

    def start(self) -> tuple[Cli, Path]:
        self.started += 1
        log = self.directory / f"{self.started}.log"
        return Cli.start(*self.arguments(), log=log), log


def _wait(log: Path, text: str, job: Cli, seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not re.search(text, log.read_text()):
        assert job.process.poll() is None, log.read_text()
        assert time.monotonic() < end, f"no '{text}' in {log.read_text()}"
        time.sleep(0.2)


def _jvm(job: Cli) -> int:
    """Return the process id of the JVM of a job."""
    found = subprocess.run(
        ["pgrep", "-g", str(job.process.pid), "java"], capture_output=True, text=True, check=True
    )
    return int(found.stdout.split()[0])


_MICRO = ("--master", "local[2]", "--set", "execution.micro-batch.max-records=50")
_AUTO = ("--set", "execution.mode=auto", "--set", "parallelism.default=1")


def _kill_and_pause(
    store: Store,
    names: dict[str, str],
    directory: Path,
    options: Sequence[str],
    spark: SparkSession,
    *,
    kill: bool = True,
) -> None:
    views = list(page_views(33, count=3_000))
    jobs = _Jobs(store, names, directory, options)
    _feed(names, views[:1_000])
    if kill:
        _refuse_and_kill(jobs)

    paused, log = jobs.start()
    _wait(log, "running", paused)
    os.kill(_jvm(paused), signal.SIGSTOP)
    _feed(names, views[1_000:2_000])
    last, last_log = jobs.start()
    _wait(last_log, "running", last)
    _feed(names, views[2_000:])
    time.sleep(3)
    os.kill(_jvm(paused), signal.SIGCONT)
    paused.process.wait(60)
    assert "CHECKPOINT_LOST" in log.read_text(), log.read_text()
    assert last.process.poll() is None, last_log.read_text()
    last.terminate()
    last.process.wait(60)

    job = BoundedRun(spark, PAGEVIEWS, store.root, names)
    job()
    assert job.rows("pageviews_per_region") == recount(views)


def _refuse_and_kill(jobs: _Jobs) -> None:
    """Start a job, check that a second job is refused meanwhile, and kill the first job."""
    killed, log = jobs.start()
    _wait(log, "running", killed)
    second, second_log = jobs.start()
    second.process.wait(120)
    assert re.search(
        r"CHECKPOINT_HELD: checkpoint \S+ is in use by process \d+ on \S+, since",
        second_log.read_text(),
    )
    assert second.process.returncode != 0
    killed.kill()


@pytest.mark.parametrize("server", ["s3a"], indirect=True)
def test_a_paused_job(
    spark: SparkSession, store: Store, names: dict[str, str], tmp_path: Path
) -> None:
    _kill_and_pause(store, names, tmp_path, _MICRO, spark, kill=False)


@pytest.mark.soak
def test_a_kill_a_second_job_and_a_paused_job(
    spark: SparkSession, store: Store, names: dict[str, str], tmp_path: Path
) -> None:
    _kill_and_pause(store, names, tmp_path, _MICRO, spark)


@pytest.mark.soak
def test_a_kill_a_second_job_and_a_paused_job_in_auto_mode(
    spark: SparkSession, store: Store, names: dict[str, str], tmp_path: Path
) -> None:
    _kill_and_pause(store, names, tmp_path, _AUTO, spark)
