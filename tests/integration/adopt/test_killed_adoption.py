"""After `kill -9` in any step of `streamtable adopt`, the same command finishes the adoption."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from tests.integration.adopt.support import Adopter, sums
from tests.integration.jobs.support import Cli, run, write
from tests.integration.upgrade.support import FILTERED, SUMS, events

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker


def _step(checkpoint: Path) -> str | None:
    """Return the current step of the adoption; None if there is no adoption."""
    try:
        found = json.loads((checkpoint / "upgrade.json").read_text())["queries"]
    except FileNotFoundError:
        return None
    return str(found["sums"]["step"])


@pytest.mark.soak
@pytest.mark.parametrize("guarantee", ["at-least-once", "exactly-once"])
def test_an_adoption_killed_at_any_step_continues(
    guarantee: str, spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    source = topic("adopt", partitions=2)
    jobs = Adopter(spark, broker.bootstrap_servers, source, tmp_path, guarantee)
    script = write(tmp_path / "job.sql", jobs.script(SUMS))
    shared = [script, "--checkpoint", str(jobs.checkpoint), "--set", "parallelism.default=2"]
    for name, value in jobs.names.items():
        shared += ["--var", f"{name}={value}"]
    jobs.send(events(0, 300))
    jobs.other.run(FILTERED)
    before = len(jobs.written("sums"))
    code, out, err = run("adopt", *shared, "--plan")
    assert code == 0, err
    assert f"of 4 keys in {source}-sums, 5 get another or a first row and 0 are deleted" in out
    assert not jobs.checkpoint.exists()

    for step in ("read", "compare", "write"):
        killed = Cli.start("adopt", *shared)
        killed.until(lambda step=step: _step(jobs.checkpoint) == step, pause=0.01)
        killed.kill()
        assert _step(jobs.checkpoint) == step
    code, _, err = run("run", *shared, "--bounded")
    assert code == 1
    assert "an adoption was interrupted" in err
    code, out, err = run("adopt", *shared)
    assert code == 0, err
    assert "continues the interrupted adoption of sums" in err
    assert "the next run continues from there" in out
    assert jobs.folded("sums") == sums(events(0, 300))
    if guarantee == "exactly-once":
        assert len(jobs.written("sums")) == before + 5

    jobs.send(events(300, 340))
    code, _, err = run("run", *shared, "--bounded")
    assert code == 0, err
    assert jobs.folded("sums") == sums(events(0, 340))
