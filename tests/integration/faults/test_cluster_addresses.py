"""Jobs on a cluster whose master, workers and driver have different addresses."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests import quick_jvm
from tests.integration.faults.cluster import DRIVER, WORKERS, Cluster
from tests.integration.faults.support import START_S, Job

from streamtable.devbroker.broker import Broker
from streamtable.jvm.install.class_archive import java_options

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_QUICK = {
    "spark.executor.memory": "512m",
    "spark.executor.extraJavaOptions": f"{quick_jvm.OPTIONS} {java_options()}",
    "spark.locality.wait": "0s",
    "spark.shuffle.io.retryWait": "500ms",
}


@pytest.mark.soak
def test_state_survives_a_killed_worker(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPARK_LOCAL_IP", DRIVER)
    with (
        Broker(tmp_path / "broker") as broker,
        Cluster(tmp_path / "spark", WORKERS, cores=16) as cluster,
    ):
        job = Job(broker.bootstrap_servers, tmp_path / "c", exact=False)
        job.feed(2_000)
        given = [text for pair in _QUICK.items() for text in ("--set", "=".join(pair))]
        process = job.start(*given, batch=200, master=cluster.url)
        job.wait(process, 2, START_S)
        assert all(cluster.executors(worker) for worker in cluster.workers)
        assert f"//CoarseGrainedScheduler@{DRIVER}:" in _executor_commands(cluster)
        cluster.kill(cluster.workers[0])
        job.feed(500)
        job.wait(process, 2)
        process.kill()
        job.check(spark)


def _executor_commands(cluster: Cluster) -> str:
    pids = (pid for worker in cluster.workers for pid in cluster.executors(worker))
    return " ".join(Path(f"/proc/{pid}/cmdline").read_text() for pid in pids)
