"""An upgrade catches up while the job runs, then stops the job and writes the difference."""

from __future__ import annotations

import re
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.jobs.support import PATIENCE_S, Cli, run, write
from tests.integration.upgrade.support import COPY, FILTERED, SUMS, Jobs, events

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker


def _expected(end: int, *, new: bool) -> dict[int, dict[str, Any]]:
    rows = [e for e in events(0, end) if not new or (e["g"] != 4 and e["v"] > 3)]
    groups = {e["g"]: [x["v"] for x in rows if x["g"] == e["g"]] for e in rows}
    return {g: {"g": g, "n": len(vs), "s": sum(vs)} for g, vs in groups.items()}


@pytest.mark.soak
@pytest.mark.parametrize(
    ("guarantee", "mode", "goes_on"),
    [
        ("exactly-once", "micro-batch", False),
        pytest.param("at-least-once", "real-time", True, marks=pytest.mark.real_time_state),
    ],
)
def test_the_job_serves_until_the_new_query_has_caught_up(
    guarantee: str,
    mode: str,
    goes_on: bool,
    spark: SparkSession,
    broker: Broker,
    topic: Topics,
    tmp_path: Path,
) -> None:
    source = topic("running", partitions=2)
    jobs = Jobs(spark, broker.bootstrap_servers, source, tmp_path / "c", guarantee)
    copies = [COPY] if mode == "micro-batch" else []
    old = write(tmp_path / "old.sql", jobs.script(SUMS, *copies))
    new = write(tmp_path / "new.sql", jobs.script(FILTERED, *copies))
    shared = ["--checkpoint", str(tmp_path / "c"), "--set", "parallelism.default=2"]
    for name, value in jobs.names.items():
        shared += ["--var", f"{name}={value}"]
    jobs.send(events(0, 200))
    job = Cli.start("run", old, *shared, "--mode", mode, log=tmp_path / "job.log")
    _until(lambda: jobs.folded("sums") == _expected(200, new=False), job)

    sent, ended = 200, threading.Event()

    def feed() -> None:
        nonlocal sent
        while not ended.wait(0.2):
            jobs.send(events(sent, sent + 10))
            sent += 10

    feeding = threading.Thread(target=feed)
    feeding.start()
    try:
        code, out, err = run("upgrade", new, *shared)
        assert code == 1
        assert "is in use by process" in err
        # An upgrade that is killed while it catches up does not affect the job.
        killed = Cli.start("upgrade", new, *shared, "--stop-job")
        killed.until((tmp_path / "c" / "sums@2" / "commits" / "0").exists, pause=0.01)
        killed.kill()
        assert job.process.poll() is None
        assert (tmp_path / "c" / "upgrade-draft.json").exists()
        upgrade = Cli.start("upgrade", new, *shared, "--stop-job", *(["--run"] if goes_on else []))
        if goes_on:
            job.process.wait(PATIENCE_S)
            upgrade.wait_for("running sums")
        else:
            code, out, err = upgrade.end()
    finally:
        ended.set()
        feeding.join()
    if goes_on:
        _until(lambda: jobs.folded("sums") == _expected(sent, new=True), upgrade)
        upgrade.terminate()
        code, out, err = upgrade.end()
    assert code == 0, err
    assert goes_on or "stops the job insert-into_sums" in err
    assert not (tmp_path / "c" / "upgrade-draft.json").exists()
    assert not (tmp_path / "c" / "sums@3").exists(), "the second upgrade begins again"
    assert re.search(r"the topics were not written for \d+\.\d s so far", out)
    job.process.wait(PATIENCE_S)
    assert job.process.returncode == 0, (tmp_path / "job.log").read_text()
    code, _, err = run("run", new, *shared, "--bounded")
    assert code == 0, err
    assert jobs.folded("sums") == _expected(sent, new=True)
    if copies:
        assert jobs.copied() == dict.fromkeys(range(sent), 1)


def _until(done: Any, job: Cli) -> None:
    end = time.monotonic() + PATIENCE_S
    while True:
        try:
            if done():
                return
        except KeyError:  # the job has not created its topic yet
            pass
        assert job.process.poll() is None
        assert time.monotonic() < end
        time.sleep(0.3)
