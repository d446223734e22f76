"""Faults of every kind in one history: drivers, brokers, replicas, partitions, topics.

Rows come all the time. A seed draws the faults; a failure's message lists all faults so far. The
long history takes an hour, or FAULTS_SECONDS seconds, with the seed FAULTS_SEED:

    FAULTS_SECONDS=600 FAULTS_SEED=7 .venv/bin/pytest -m soak -k hour \\
        tests/integration/faults/test_mixed.py
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.faults.brokers import Brokers
from tests.integration.faults.inputs import Inputs
from tests.integration.faults.mixed_history import (
    AT_LEAST_ONCE,
    EXACTLY_ONCE,
    MICRO_BATCH,
    PARTITIONS,
    History,
)
from tests.integration.faults.mixed_job import EVENTS, PRICES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_MODES = (MICRO_BATCH, "real-time", "auto")
_SECONDS = float(os.environ.get("FAULTS_SECONDS", "3600"))
_SEED = int(os.environ.get("FAULTS_SEED", "600"))

Fault = Callable[[History], None]
_FAULTS: Sequence[Fault] = (
    History.driver_dies,
    History.broker_dies,
    History.brokers_die,
    History.driver_and_broker_die,
    History.replicas_move,
    History.events_grow,
    History.prices_grow,
    History.topic_is_made_anew,
)


def _long(seed: int, guarantees: Sequence[str], modes: Sequence[str], name: str) -> Any:
    case = (seed, _SECONDS, _FAULTS, guarantees, modes)
    return pytest.param(*case, marks=pytest.mark.soak, id=f"{name}-{seed}")


@pytest.mark.parametrize(
    ("seed", "seconds", "faults", "guarantees", "modes"),
    [
        pytest.param(
            *(61, 0, (History.driver_and_broker_die,)),
            *((AT_LEAST_ONCE,), ("real-time", "auto")),
            id="short-61",
        ),
        pytest.param(
            *(61, 0, (History.driver_and_broker_die, History.prices_grow)),
            *((EXACTLY_ONCE,), (MICRO_BATCH,)),
            marks=pytest.mark.soak,
            id="exactly-once-61",
        ),
        pytest.param(
            *(62, 0, (History.driver_dies, History.broker_dies)),
            *((AT_LEAST_ONCE,), ("real-time", "auto")),
            marks=pytest.mark.soak,
            id="at-least-once-62",
        ),
        _long(_SEED, (AT_LEAST_ONCE, EXACTLY_ONCE), _MODES, "hour"),
        _long(_SEED, (EXACTLY_ONCE,), (MICRO_BATCH,), "exactly-once"),
        *(_long(_SEED, (AT_LEAST_ONCE,), (mode,), mode) for mode in _MODES),
    ],
)
def test_faults_of_every_kind(
    seed: int,
    seconds: float,
    faults: Sequence[Fault],
    guarantees: Sequence[str],
    modes: Sequence[str],
    spark: SparkSession,
    tmp_path: Path,
) -> None:
    """A job survives all faults in random order; then a job with the next guarantee begins."""
    dice = random.Random(seed)
    with Brokers(tmp_path / "brokers", spark) as brokers:
        for topic in (EVENTS, PRICES):
            brokers.create(topic, PARTITIONS)
        inputs = Inputs(brokers.bootstrap_servers, EVENTS, PRICES, seed)
        inputs.has_partitions(PARTITIONS)
        history = History(brokers, inputs, spark, tmp_path, dice, guarantees, modes)
        until = time.monotonic() + seconds
        with inputs.coming():
            while True:
                for fault in dice.sample(faults, len(faults)):
                    fault(history)
                    if dice.random() < 0.4:
                        history.settle()
                if time.monotonic() >= until:
                    break
                history.end()
                history.begin()
            history.end()
