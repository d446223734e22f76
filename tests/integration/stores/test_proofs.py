"""`streamtable prove` and `why` with a checkpoint on HDFS or S3."""

from __future__ import annotations

import json
import threading
import time
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner
from tests.integration.jobs.support import PATIENCE_S, Cli
from tests.integration.proof.support import ProvedJob

from streamtable.cli.main import cli
from streamtable.cli.proof_options import PROGRAM
from streamtable.runtime.job import RunOptions
from streamtable.runtime.repeated_proof.repeated import ProofOptions
from streamtable.session import Session
from streamtable.testing.topics import produce, produce_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.conftest import Topics
    from tests.integration.stores.servers import Store

    from streamtable.devbroker.broker import Broker


def _make(
    folder: Path, broker: Broker, topic: Topics, store: Store, mode: str, table: str
) -> ProvedJob:
    job = ProvedJob.make(folder, broker, topic, mode=mode, tables=(table,))
    job.uri = store.root
    return job


@contextmanager
def _running(
    job: ProvedJob, spark: SparkSession, proofs: ProofOptions | None = None
) -> Iterator[Callable[[str, int], None]]:
    """Run the job in this process. Yield a function that waits for a value of a metric."""
    session = Session()
    session.load((job.folder / "job.sql").read_text(), "job.sql", job.variables)
    said: list[str] = []
    options = RunOptions(checkpoint=job.uri, proofs=proofs)
    running = session.start(options, said.append, spark)

    def wait_for(metric: str, value: int) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while running.metrics()["queries"].get("counts", {}).get(metric, -1) < value:
            assert running.running, said
            assert time.monotonic() < deadline, (running.metrics(), said)
            time.sleep(0.1)

    try:
        yield wait_for
    finally:
        running.stop()
        assert running.wait(PATIENCE_S)
    assert running.status() == "CANCELED"


@contextmanager
def _fed(job: ProvedJob) -> Iterator[None]:
    """Send changes again and again. Batches pause rarely; a job without a pause has no proof."""
    stop = threading.Event()

    def feed() -> None:
        seed = 6
        while not stop.wait(1.7):
            job.feed(seed, 20)
            seed += 1

    feeding = threading.Thread(target=feed)
    feeding.start()
    try:
        yield
    finally:
        stop.set()
        feeding.join()


@pytest.mark.parametrize(
    "server", ["s3a", pytest.param("hdfs", marks=pytest.mark.soak)], indirect=True
)
def test_a_running_and_a_stopped_job(
    store: Store, broker: Broker, topic: Topics, tmp_path: Path, spark: SparkSession
) -> None:
    """Proofs work in auto mode, which lacks slots here and so stays in micro-batch mode."""
    job = _make(tmp_path, broker, topic, store, "auto", "counts")
    job.feed(5, 100)
    produce_json(job.servers, job.variables["clicks"], [{"shop": 9, "n": 4}])
    with _running(job, spark) as wait_for, _fed(job):
        wait_for("lastBatch", 0)
        whole = job.results("--since", "last")["counts"]
        assert (whole["result"], whole["since"]) == ("equal", None)
        assert whole["offsets"] >= 100
        wait_for("lastBatch", whole["batch"] + 1)
    induced = job.results("--since", "last")["counts"]
    assert (induced["result"], induced["since"]["batch"]) == ("equal", whole["batch"])
    assert _explained(job, {"shop": 9}) == {"clicks": 1, "n": 4, "least": 4, "most": 4}

    planted = {"clicks": 8, "shop": 9, "n": 4, "least": 4, "most": 4}
    record = (json.dumps({"shop": 9}).encode(), json.dumps(planted).encode())
    produce(job.servers, job.topic("counts"), [record])
    found = job.results()["counts"]
    assert (found["result"], found["changed"], found["smallest"]) == ("differs", 1, '{"shop":9}')


def _explained(job: ProvedJob, key: dict[str, Any]) -> dict[str, Any]:
    """Run `streamtable why`; return the only row of the key."""
    asked = ["why", *job.arguments, "--table", "counts", "--key", json.dumps(key), "--json"]
    assert job.uri is not None
    result = CliRunner().invoke(cli, [*asked, "--checkpoint", job.uri])
    assert result.exit_code == 0, result.output
    (query,) = json.loads(result.stdout)["queries"]
    assert query["batch"] is not None
    (row,) = query["rows"]
    assert isinstance(row["row"], dict)
    return {name: value for name, value in row["row"].items() if name not in key}


@pytest.mark.soak
def test_a_job_that_repeats_its_proof(
    store: Store, broker: Broker, topic: Topics, tmp_path: Path, spark: SparkSession
) -> None:
    job = _make(tmp_path, broker, topic, store, "micro-batch", "counts")
    job.feed(5, 100)
    arguments = [*job.arguments, *store.arguments()]
    proofs = ProofOptions(timedelta(seconds=1), 100.0, "1g", PROGRAM, arguments)
    with _running(job, spark, proofs) as wait_for:
        wait_for("proofDifferences", 0)
        planted = (b'{"shop":9}', b'{"shop":9,"clicks":8,"n":4,"least":4,"most":4}')
        produce(job.servers, job.topic("counts"), [planted])
        wait_for("proofDifferences", 1)


def test_a_checkpoint_that_cannot_be_read(
    store: Store, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    job = _make(tmp_path, broker, topic, store, "micro-batch", "counts")
    missing = job.prove()
    assert (missing.exit_code, "no job has written to it" in missing.stderr) == (1, True)
    job.uri = store.closed
    refused = job.prove()
    assert "CHECKPOINT_UNREADABLE" in refused.stderr, refused.output


@pytest.mark.soak
@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("mode", ["micro-batch", "auto", "real-time"])
def test_a_job_of_another_process_before_and_after_a_kill(
    mode: str, store: Store, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    job = _make(tmp_path, broker, topic, store, mode, "totals")
    job.feed(5, 200)
    log = tmp_path / "job.log"
    running = Cli.start(
        *("run", *job.arguments, "--checkpoint", store.root, "--master", "local[6]"),
        *("--set", "parallelism.default=2", "--set", "execution.checkpointing.interval=5 s"),
        *("--set", "execution.checkpointing.lease=6 s", *store.arguments()),
        log=log,
    )
    offsets: list[int] = []
    deadline = time.monotonic() + PATIENCE_S
    with _fed(job):
        # The first commits of real-time mode may be empty.
        while len(set(offsets)) < 3 or offsets[-1] < 200:
            assert running.process.poll() is None, log.read_text()
            assert time.monotonic() < deadline, offsets
            result = job.prove("--json")
            early = ("no job has written to it", "has not committed a batch yet")
            if any(text in result.stderr for text in early):
                time.sleep(0.2)
                continue
            assert result.exit_code == 0, result.output
            offsets.append(json.loads(result.stdout)["offsets"])
    assert offsets == sorted(offsets)
    running.kill()
    killed = job.prove()
    assert killed.exit_code == 0 or "NOT_PROVABLE" in killed.stderr, killed.output
    assert "the job writes all the time" not in killed.stderr
