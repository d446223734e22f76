"""`run --prove-every`: a running job proves its sinks again, and its metrics show differences."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.proof.support import ProvedJob

from streamtable.cli.proof_options import PROGRAM
from streamtable.runtime.job import RunOptions
from streamtable.runtime.repeated_proof.repeated import ProofOptions
from streamtable.session import Session
from streamtable.testing.topics import produce, produce_json

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker
    from streamtable.runtime.background import Job

#: A proof has a low priority: it waits for the other work of the machine.
_PATIENCE_S = 600


@dataclass
class _Running:
    """A job in this process. Its proofs run in separate processes."""

    proved: ProvedJob
    job: Job
    notices: list[str]

    def until(self, done: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Wait until the metrics of the queries satisfy the condition, and return them."""
        deadline = time.monotonic() + _PATIENCE_S
        while time.monotonic() < deadline and self.job.running:
            found = self.job.metrics()["queries"]
            if done(found):
                return found
            time.sleep(0.2)
        message = f"{self.job.metrics()['queries']}, {self.notices}"
        raise AssertionError(message)

    def click(self, *shops: int) -> None:
        """Send clicks with n = 5."""
        rows = [{"shop": shop, "n": 5} for shop in shops]
        produce_json(self.proved.servers, self.proved.variables["clicks"], rows)

    def plant(self, shop: int, clicks: int) -> None:
        """Write a row into the topic of `counts`, as another writer would."""
        row = {"shop": shop, "clicks": clicks, "n": 5, "least": 5, "most": 5}
        record = (json.dumps({"shop": shop}).encode(), json.dumps(row).encode())
        produce(self.proved.servers, self.proved.topic("counts"), [record])


@contextmanager
def _running(proved: ProvedJob, spark: SparkSession) -> Iterator[_Running]:
    session = Session()
    session.load((proved.folder / "job.sql").read_text(), "job.sql", proved.variables)
    # A share of CPU time above 1 does not limit these proofs.
    proofs = ProofOptions(timedelta(seconds=1), 100.0, "1g", PROGRAM, proved.arguments)
    options = RunOptions(checkpoint=str(proved.checkpoint), proofs=proofs)
    notices: list[str] = []
    running = _Running(proved, session.start(options, notices.append, spark), notices)
    try:
        yield running
    finally:
        running.job.stop()
        assert running.job.wait(_PATIENCE_S)
    assert running.job.status() == "CANCELED"


def test_a_job_shows_the_rows_that_differ(
    broker: Broker, topic: Topics, tmp_path: Path, spark: SparkSession
) -> None:
    tables = ("counts", "seen")
    proved = ProvedJob.make(tmp_path, broker, topic, mode="micro-batch", tables=tables)
    with _running(proved, spark) as running:
        running.click(1, 1, 2)
        running.until(lambda now: set(tables) <= set(now))
        running.plant(7, 3)  # the first proof starts Spark before it reads the topic
        found = running.until(lambda now: all("proofAge" in now.get(t, {}) for t in tables))
        differ = {name: found[name]["proofDifferences"] for name in tables}
        assert differ == {"counts": 1, "seen": 0}, running.notices
        assert {found[name]["proofUndecided"] for name in tables} == {0}
        assert {found[name]["proofFailures"] for name in tables} == {0}
        assert all(0 < found[name]["proofAge"] < _PATIENCE_S * 1_000 for name in tables)
        lines = [line for line in running.notices if line.startswith("SINK_DIFFERS")]
        assert len(lines) == 1
        assert '1 keys, such as {"shop":7}: expected no row, found' in lines[0]

        batch = found["counts"]["lastBatch"]
        running.click(2)
        running.until(lambda now: now["counts"]["lastBatch"] > batch)


@pytest.mark.soak
def test_a_difference_is_found_by_a_later_proof(
    broker: Broker, topic: Topics, tmp_path: Path, spark: SparkSession
) -> None:
    proved = ProvedJob.make(tmp_path, broker, topic, mode="micro-batch", tables=("counts",))
    with _running(proved, spark) as running:
        running.click(1, 1, 2)
        found = running.until(lambda now: "proofAge" in now.get("counts", {}))
        assert found["counts"]["proofDifferences"] == 0
        running.plant(1, 3)
        found = running.until(lambda now: now["counts"]["proofDifferences"] > 0)
        assert found["counts"]["proofDifferences"] == 1
