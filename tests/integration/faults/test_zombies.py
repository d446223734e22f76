"""Drivers that pause and resume: only one run at a time writes."""

from __future__ import annotations

import os
import random
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.integration.faults.support import EXACTLY_ONCE, PATIENCE_S, START_S, Job
from tests.integration.jobs.support import Cli

from streamtable.core.errors import StreamtableError
from streamtable.core.process import Process
from streamtable.devbroker.broker import Broker

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def _jvm(run: Cli) -> Process:
    """Return the JVM process of a run."""
    (child,) = Path(f"/proc/{run.process.pid}/task/{run.process.pid}/children").read_text().split()
    found = Process.of(int(child))
    assert found is not None
    return found


@pytest.mark.parametrize(
    "seed", [7, *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(200, 220))]
)
def test_a_second_run_takes_over(seed: int, spark: SparkSession, tmp_path: Path) -> None:
    dice = random.Random(seed)
    with Broker(tmp_path / "broker") as broker:
        job = Job(broker.bootstrap_servers, tmp_path / "c", guarantee=EXACTLY_ONCE)
        job.feed(8_000)
        first = job.start()
        job.wait(first, 2, START_S)
        time.sleep(dice.random())

        # The whole run pauses: it keeps the checkpoint, and continues afterwards.
        os.killpg(first.process.pid, signal.SIGSTOP)
        with pytest.raises(StreamtableError, match=f"is in use by process {first.process.pid}"):
            job.bounded(spark)()
        os.killpg(first.process.pid, signal.SIGCONT)
        job.wait(first)
        time.sleep(dice.random())

        # The Python process of the run dies. Its JVM resumes after another run has taken over.
        jvm = _jvm(first)
        os.kill(jvm.pid, signal.SIGSTOP)
        first.process.kill()
        first.process.wait()
        second = job.start()
        job.wait(second, 1 + dice.randrange(3), START_S)
        os.kill(jvm.pid, signal.SIGCONT)
        deadline = time.monotonic() + PATIENCE_S
        while jvm.alive:
            assert time.monotonic() < deadline, "the first run's JVM stays"
            time.sleep(0.1)
        job.wait(second)
        second.kill()
        job.check(spark)
