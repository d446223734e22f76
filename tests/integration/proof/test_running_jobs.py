"""`streamtable prove` while a job runs and its topics grow: no false alarm in any mode."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.integration.jobs.support import PATIENCE_S, Cli
from tests.integration.proof.support import ProvedJob

if TYPE_CHECKING:
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

pytestmark = pytest.mark.usefixtures("spark")


_TWO = ("odd totals", "even totals")


@pytest.mark.parametrize(
    ("mode", "exactly_once", "inserts"),
    [
        pytest.param("micro-batch", True, ("totals",), marks=pytest.mark.soak),
        ("real-time", False, ("totals",)),
        pytest.param("auto", False, ("totals",), marks=pytest.mark.soak),
        pytest.param("micro-batch", False, _TWO, marks=pytest.mark.soak),
        pytest.param("micro-batch", True, _TWO, marks=pytest.mark.soak),
    ],
)
def test_a_running_job_is_proved_at_its_newest_commit(
    mode: str,
    exactly_once: bool,
    inserts: tuple[str, ...],
    broker: Broker,
    topic: Topics,
    tmp_path: Path,
) -> None:
    job = ProvedJob.make(
        tmp_path, broker, topic, mode=mode, exactly_once=exactly_once, tables=inserts
    )
    job.feed(5, 200)
    running = Cli.start(
        "run",
        *job.arguments,
        *("--checkpoint", str(job.checkpoint), "--master", "local[6]"),
        *("--set", "parallelism.default=2", "--set", "execution.checkpointing.interval=5 s"),
    )
    stop = threading.Event()

    def feed() -> None:
        seed = 6
        while not stop.wait(1):
            job.feed(seed, 20)
            seed += 1

    feeding = threading.Thread(target=feed)
    try:
        job.wait_for_commit(running)
        feeding.start()
        batches, offsets = list[int](), list[int]()
        deadline = time.monotonic() + PATIENCE_S
        # The first commits of real-time mode may be empty.
        while len(set(offsets)) < 2 or offsets[-1] < 200:
            assert time.monotonic() < deadline, offsets
            results = job.results("--table", "totals")
            assert len(results) == len(inserts)
            assert all(one["result"] == "equal" for one in results.values()), results
            found = results["totals"]
            batches.append(found["batch"])
            offsets.append(found["offsets"])
        assert batches == sorted(batches)
        assert offsets == sorted(offsets)
    finally:
        stop.set()
        if feeding.is_alive():
            feeding.join()
    running.kill()
    # If a batch was planned and not committed at the kill, `prove` says so.
    killed = job.prove("--table", "totals")
    assert killed.exit_code == 0 or "NOT_PROVABLE" in killed.stderr, killed.output
