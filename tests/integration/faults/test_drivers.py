"""Kill the driver at random moments, in one mode or in changing modes, on one checkpoint."""

from __future__ import annotations

import random
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.integration.faults.support import EXACTLY_ONCE, START_S, Job

from streamtable.devbroker.broker import Broker

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_KILLS = 4
_MODES = ("micro-batch", "real-time", "auto")


@pytest.mark.soak
@pytest.mark.parametrize("modes", [*((mode,) for mode in _MODES), _MODES], ids="/".join)
@pytest.mark.parametrize("seed", range(400, 405))
def test_a_driver_that_is_killed_often(
    seed: int, modes: tuple[str, ...], spark: SparkSession, tmp_path: Path
) -> None:
    """Each kill may happen while the run starts, catches up, or reads new records."""
    dice = random.Random(seed)
    exact = "real-time" not in modes
    guarantee = EXACTLY_ONCE if modes == ("micro-batch",) else ""
    with Broker(tmp_path / "broker") as broker:
        job = Job(broker.bootstrap_servers, tmp_path / "c", exact=exact, guarantee=guarantee)
        with job.feeding():
            for _ in range(_KILLS):
                job.mode = dice.choice(modes)
                process = job.start(batch=dice.choice([20, 200, 5_000]))
                if dice.random() < 0.7:
                    job.wait(process, 1, START_S)
                time.sleep(dice.random() * 8)
                assert process.process.poll() is None, process.process.communicate()[1]
                process.kill()
        job.check(spark)
