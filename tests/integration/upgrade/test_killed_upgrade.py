"""`kill -9` of the job and of each step of an upgrade: the same command finishes the upgrade."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.jobs.support import Cli, run, write
from tests.integration.upgrade.support import DOUBLED, FILTERED, SUMS, Jobs, events

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

STEPS = ("read", "compare", "write")


def _expected(rows: list[dict[str, int]], query: str) -> dict[int, dict[str, Any]]:
    found: dict[int, list[int]] = defaultdict(list)
    for row in rows:
        if query != FILTERED or (row["g"] != 4 and row["v"] > 3):
            found[row["g"]].append(row["v"])
    return {
        g: {"g": g, "n": len(vs), "s": 2 * len(vs) if query == DOUBLED else sum(vs)}
        for g, vs in found.items()
    }


def _step(checkpoint: Path) -> str | None:
    """Return the step of the running upgrade, or None if there is none."""
    try:
        found = json.loads((checkpoint / "upgrade.json").read_text())["queries"]
    except FileNotFoundError:
        return None
    return str(found["sums"]["step"])


@pytest.mark.soak
@pytest.mark.parametrize("query", [FILTERED, DOUBLED], ids=["rebuilt", "extended"])
@pytest.mark.parametrize(
    ("guarantee", "mode"),
    [
        pytest.param("at-least-once", "real-time", marks=pytest.mark.real_time_state),
        ("exactly-once", "micro-batch"),
    ],
)
def test_an_upgrade_killed_at_any_step_is_finished(
    query: str,
    guarantee: str,
    mode: str,
    spark: SparkSession,
    broker: Broker,
    topic: Topics,
    tmp_path: Path,
) -> None:
    checkpoint = tmp_path / "c"
    source = topic("killed", partitions=2)
    jobs = Jobs(spark, broker.bootstrap_servers, source, checkpoint, guarantee)
    old = write(tmp_path / "old.sql", jobs.script(SUMS))
    new = write(tmp_path / "new.sql", jobs.script(query))
    shared = ["--checkpoint", str(checkpoint), "--set", "parallelism.default=2"]
    for name, value in jobs.names.items():
        shared += ["--var", f"{name}={value}"]

    jobs.send(events(0, 300))
    job = Cli.start("run", old, *shared, "--mode", mode)
    job.until(
        lambda: (
            (checkpoint / "sums" / "commits").exists()
            and _sums(jobs) == _expected(events(0, 300), SUMS)
        )
    )
    jobs.send(events(300, 340))
    job.kill()

    for step in STEPS:
        killed = Cli.start("upgrade", new, *shared)
        killed.until(lambda step=step: _step(checkpoint) == step, pause=0.01)
        killed.kill()
        assert _step(checkpoint) == step
    code, _, err = run("run", old, *shared, "--bounded")
    assert code == 1
    assert "an upgrade was interrupted" in err
    code, out, err = run("upgrade", old, *shared)
    assert code == 1
    assert "an upgrade to other queries was interrupted" in err
    code, out, err = run("upgrade", new, *shared)
    assert code == 0, err
    assert "continues the interrupted upgrade of sums" in err
    assert "the next run continues with the changed script" in out
    assert not (checkpoint / "upgrade.json").exists()

    jobs.send(events(340, 360))
    code, _, err = run("run", new, *shared, "--bounded")
    assert code == 0, err
    assert _sums(jobs) == _expected(events(0, 360), query)


def _sums(jobs: Jobs) -> dict[int, dict[str, Any]]:
    try:
        return jobs.folded("sums")
    except KeyError:  # the job has not created its topic yet
        return {}
