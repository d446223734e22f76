"""`streamtable submit` to a standalone cluster: a job runs, stops, and continues."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests import quick_jvm
from tests.integration.faults.cluster import DRIVER, WORKERS, Cluster
from tests.integration.faults.support import PATIENCE_S, START_S, Job

from streamtable.devbroker.broker import Broker
from streamtable.jvm.install.class_archive import java_options

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_QUICK = {
    "spark.executor.memory": "512m",
    "spark.executor.extraJavaOptions": f"{quick_jvm.OPTIONS} {java_options()}",
}
_CONF = [text for pair in _QUICK.items() for text in ("--conf", "=".join(pair))]


@pytest.mark.parametrize("again", [False, pytest.param(True, marks=pytest.mark.soak)])
def test_a_submitted_job_stops_and_continues(
    again: bool, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A submitted job stops, and continues in another process.

    With `again`, a second submit runs in between, and a service manager stops it.
    """
    monkeypatch.setenv("SPARK_LOCAL_IP", DRIVER)
    with (
        Broker(tmp_path / "broker") as broker,
        Cluster(tmp_path / "spark", WORKERS[:1], cores=4) as cluster,
    ):
        job = Job(broker.bootstrap_servers, tmp_path / "c", exact=False)
        job.feed(2_000)
        process = job.start(*_CONF, batch=200, master=cluster.url, command="submit")
        job.wait(process, 2, START_S)
        [executor] = cluster.executors(cluster.workers[0])
        command = Path(f"/proc/{executor}/cmdline").read_text()
        assert f"//CoarseGrainedScheduler@{DRIVER}:" in command
        process.terminate()
        code, out, err = process.end()
        assert code == 0, (out, err)
        assert "spark-submit" in err
        assert broker.bootstrap_servers not in err  # a value of --var
        assert "Traceback" not in out + err

        job.feed(500)
        if again:
            process = job.start(*_CONF, batch=200, master=cluster.url, command="submit")
            job.wait(process, 2, START_S)
            [jvm] = _children(process.process.pid)
            [driver] = _children(jvm)
            os.killpg(jvm, signal.SIGTERM)  # a service manager stops all processes at once
            assert process.end()[0] == 128 + signal.SIGTERM
            _wait_for_end(driver)
        job.check(spark)


def _children(parent: int) -> list[int]:
    """Return the ids of the child processes of a process."""
    children = Path(f"/proc/{parent}/task").glob("*/children")
    return [int(pid) for of_thread in children for pid in of_thread.read_text().split()]


def _wait_for_end(process: int) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while Path(f"/proc/{process}").exists():
        assert time.monotonic() < deadline, "the driver has not ended with its JVM"
        time.sleep(0.1)
