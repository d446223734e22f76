"""Queries of each kind and random queries, in every mode, over kills and restarts.

The job runs in its own process all the time, except during restarts. Histories arrive in pieces.
After each piece, the folded topics must become equal to the batch answers. Some kills follow a
piece at once, while the job is still processing the piece.
"""

from __future__ import annotations

import random
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.integration.differential.drawn import drawn
from tests.integration.differential.support import Query
from tests.integration.differential.topics.on_kafka import (
    ALL_DELETED,
    COLUMNS,
    ROW_BY_ROW,
    KafkaJob,
    histories,
)
from tests.integration.jobs.support import PATIENCE_S, Cli, write

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

_MODES = ("micro-batch", "real-time", "auto")
#: From this seed on, all queries are random.
_ALL_DRAWN = 90
#: With this seed, stale rows stay forever if a start does not roll the topics back. The seed is in
#: every run of the suite, so it has only the queries that it needs.
_QUICK = 81
_OF_LONG_RUNS = ("by_key", "groups", "paired", "unmatched", "shared")
_CASES = [
    pytest.param(_QUICK, 2, ("real-time", "auto"), id=str(_QUICK)),
    *(
        pytest.param(seed, 4, modes, marks=pytest.mark.soak, id=f"{seed}-{'/'.join(modes)}")
        for seed in range(82, 98)
        for modes in [*((mode,) for mode in _MODES), _MODES]
    ),
]


@pytest.mark.parametrize(("seed", "cuts", "modes"), _CASES)
def test_folded_topics_equal_batch_over_kills(
    seed: int,
    cuts: int,
    modes: Sequence[str],
    spark: SparkSession,
    broker: Broker,
    topic: Topics,
    tmp_path: Path,
) -> None:
    """Folded topics become equal to batch answers; runs on one checkpoint alternate the modes."""
    job = KafkaJob(spark, broker.bootstrap_servers, topic, tmp_path, _queries(seed))
    dice = random.Random(seed)
    runs = 0

    def start() -> Cli:
        nonlocal runs
        mode = modes[runs % len(modes)]
        runs += 1
        settings = {
            "execution.mode": mode,
            "execution.checkpointing.interval": "5 s",
            "parallelism.default": "1",
        }
        arguments = ["run", write(tmp_path / "job.sql", job.script)]
        arguments += ["--checkpoint", str(tmp_path / "checkpoint")]
        for key, value in settings.items():
            arguments += ["--set", f"{key}={value}"]
        return Cli.start(*arguments)

    process = start()
    cut = histories(seed, cuts)
    for piece in range(cuts + 1):
        for name, history in cut.items():
            job.feed(name, history[piece] if piece < cuts else ALL_DELETED)
        if 0 < piece < cuts:
            time.sleep(dice.random() * 3)
            # Jobs over long histories are also stopped gracefully.
            end = dice.choice((Cli.kill, _stop)) if cuts > 2 else Cli.kill
            end(process)
            process = start()
        _wait_until_right(job, process, f"seed {seed}, piece {piece}")
    # A query with an empty answer is right even before it has read a record.
    _wait_until_committed(job, process)
    _stop(process)
    assert not job.wrong(job.answers())
    job.run(1_000)
    assert not job.wrong(job.answers())
    assert not job.state_rows()


def _queries(seed: int) -> Mapping[str, Query]:
    if seed >= _ALL_DRAWN:
        return drawn(seed, 8, "ab", COLUMNS)
    omitted_records = _OF_LONG_RUNS if seed == _QUICK else ()
    fixed = {name: query for name, query in ROW_BY_ROW.items() if name not in omitted_records}
    return {**fixed, **drawn(seed, 1 if seed == _QUICK else 2, "ab", COLUMNS)}


def _stop(process: Cli) -> None:
    process.terminate()
    code, _, told = process.end()
    assert code == 0, told
    assert "stays in micro-batches" not in told


def _wait_until_right(job: KafkaJob, process: Cli, when: str, seconds: float = PATIENCE_S) -> None:
    answers, deadline = job.answers(), time.monotonic() + seconds
    wrong = job.wrong(answers)
    while wrong:
        assert process.process.poll() is None, process.end()
        assert time.monotonic() < deadline, f"{when}: {wrong}"
        time.sleep(0.5)
        wrong = job.wrong(answers)


def _wait_until_committed(job: KafkaJob, process: Cli) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while behind := job.behind():
        assert process.process.poll() is None, process.end()
        assert time.monotonic() < deadline, behind
        time.sleep(0.5)
