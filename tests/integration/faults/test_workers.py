"""A worker of a Spark cluster is lost: the other workers do its work, and no id is duplicated."""

from __future__ import annotations

import random
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests import quick_jvm
from tests.integration.faults.cluster import DRIVER, WORKERS, Cluster
from tests.integration.faults.support import EXACTLY_ONCE, START_S, Job

from streamtable.devbroker.broker import Broker
from streamtable.jvm.install.class_archive import java_options

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.parametrize(
    ("seed", "guarantee"),
    [
        (9, ""),  # ids are copied exactly once in either case
        *(
            pytest.param(seed, EXACTLY_ONCE if seed % 2 else "", marks=pytest.mark.soak)
            for seed in range(300, 310)
        ),
    ],
)
def test_a_worker_is_killed(
    seed: int,
    guarantee: str,
    spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Master, workers and driver have different addresses."""
    dice = random.Random(seed)
    monkeypatch.setenv("SPARK_LOCAL_IP", DRIVER)
    with Broker(tmp_path / "broker") as broker, Cluster(tmp_path / "spark", WORKERS) as cluster:
        job = Job(broker.bootstrap_servers, tmp_path / "c", guarantee=guarantee)
        job.feed(4_000)
        settings = {
            "spark.executor.memory": "512m",
            "spark.executor.extraJavaOptions": f"{quick_jvm.OPTIONS} {java_options()}",
            # Tasks go to any free executor: both executors soon write each partition.
            "spark.locality.wait": "0s",
            # How long an executor waits for a dead executor, up to three times.
            "spark.shuffle.io.retryWait": "500ms",
        }
        given = [text for pair in settings.items() for text in ("--set", "=".join(pair))]
        process = job.start(*given, master=cluster.url)
        job.wait(process, 3, START_S)
        assert all(cluster.executors(worker) for worker in cluster.workers)
        time.sleep(dice.random())
        cluster.kill(dice.choice(cluster.workers))
        job.wait(process, 3)
        process.kill()
        job.check(spark)
