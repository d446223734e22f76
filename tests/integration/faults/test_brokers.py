"""The broker dies or pauses while a job reads, writes and commits: the job continues."""

from __future__ import annotations

import os
import random
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.faults.support import EXACTLY_ONCE, START_S, Job

from streamtable.devbroker.broker import Broker

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


#: Seconds that a broker is away in a run of the whole suite.
_SHORT_S = 3


_LONG = (("micro-batch", ""), ("micro-batch", EXACTLY_ONCE), ("auto", ""))


def _dies(broker: Broker, seconds: float) -> None:
    broker.kill()
    time.sleep(seconds)
    broker.start()


def _stands_still(broker: Broker, seconds: float) -> None:
    assert broker.pid is not None
    os.kill(broker.pid, signal.SIGSTOP)
    time.sleep(seconds)
    os.kill(broker.pid, signal.SIGCONT)


def _case(seed: int, mode: str, guarantee: str, faults: int, seconds: float) -> Any:
    """Return a case. It is a soak test if long, or in auto mode, which takes long to start."""
    long = seconds > _SHORT_S or mode == "auto"
    name = f"{mode}-{'exactly' if guarantee else 'at-least'}-once-{seed}"
    marks = [pytest.mark.soak] if long else []
    return pytest.param(seed, mode, guarantee, faults, seconds, marks=marks, id=name)


@pytest.mark.parametrize(
    ("seed", "mode", "guarantee", "faults", "seconds"),
    [
        _case(3, "micro-batch", EXACTLY_ONCE, 1, _SHORT_S),
        _case(4, "auto", "", 1, _SHORT_S),
        *(
            _case(seed, mode, guarantee, 3, 30)
            for mode, guarantee in _LONG
            for seed in range(100, 105)
        ),
    ],
)
def test_a_broker_that_is_killed_or_paused(
    seed: int,
    mode: str,
    guarantee: str,
    faults: int,
    seconds: float,
    spark: SparkSession,
    tmp_path: Path,
) -> None:
    dice = random.Random(seed)
    with Broker(tmp_path / "broker") as broker:
        job = Job(broker.bootstrap_servers, tmp_path / "c", mode=mode, guarantee=guarantee)
        process = job.start(batch=1_000)
        with job.feeding():
            job.wait(process, 1, START_S)
            if mode == "auto":
                process.wait_for("switches to real-time mode", START_S)
            for fault in (_dies, _stands_still) * faults:
                job.wait(process)
                time.sleep(dice.random() * 2)
                fault(broker, seconds)
            job.wait(process)
        process.kill()
        job.check(spark)


@pytest.mark.soak
@pytest.mark.parametrize(("mode", "guarantee"), [*_LONG, ("real-time", "")])
def test_a_broker_killed_twenty_times(
    mode: str, guarantee: str, spark: SparkSession, tmp_path: Path
) -> None:
    """The job continues, also with records that do not parse and commits to a consumer group."""
    dice = random.Random(20)
    with Broker(tmp_path / "broker") as broker:
        job = Job(
            broker.bootstrap_servers,
            tmp_path / "c",
            mode=mode,
            exact=bool(guarantee),
            guarantee=guarantee,
            letters=True,
        )
        process = job.start(batch=1_000)
        with job.feeding():
            job.wait(process, 1, START_S)
            for _ in range(20):
                time.sleep(dice.random())
                _dies(broker, dice.random() * 2)
                job.wait(process, 1)
        process.kill()
        job.check(spark)
