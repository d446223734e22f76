"""The same command finishes an upgrade that was interrupted at any of its steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.upgrade.support import (
    DOUBLED,
    FILTERED,
    GUARANTEES,
    SUMS,
    Jobs,
    LossOfPower,
    events,
    power_lost,
)

from streamtable.core.errors import StreamtableError
from streamtable.runtime.upgrade import steps
from streamtable.runtime.upgrade.mark import Mark

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker


@pytest.mark.parametrize(
    "new",
    [
        pytest.param(FILTERED, id="rebuilt"),
        pytest.param(DOUBLED, id="extended", marks=pytest.mark.soak),
    ],
)
@pytest.mark.parametrize("guarantee", GUARANTEES)
def test_an_upgrade_interrupted_at_any_step_is_finished(
    new: str,
    guarantee: str,
    spark: SparkSession,
    broker: Broker,
    topic: Topics,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    jobs = Jobs(spark, broker.bootstrap_servers, topic("upgrade"), tmp_path / "c", guarantee)
    jobs.send(events(0, 60))
    jobs.run(SUMS)
    before = len(jobs.written("sums"))

    def fails(owner: Any, name: str, *, afterwards: bool) -> None:
        """Run the upgrade, and lose the power before or after a call of a function."""
        with (
            power_lost(monkeypatch, owner, name, afterwards=afterwards),
            pytest.raises(LossOfPower),
        ):
            jobs.upgrade(new)

    if new == DOUBLED:
        fails(steps.Shadow, "restore", afterwards=True)
    fails(steps.Shadow, "run", afterwards=True)
    fails(steps, "compare", afterwards=True)
    fails(steps, "write", afterwards=True)
    fails(steps, "write_manifest", afterwards=False)
    with pytest.raises(StreamtableError, match="an upgrade was interrupted"):
        jobs.run(SUMS)
    fails(steps, "write_manifest", afterwards=True)
    fails(Mark, "delete", afterwards=False)
    with pytest.raises(StreamtableError, match="an upgrade was interrupted"):
        jobs.run(new)
    jobs.upgrade(new)
    # Each of the five groups changes with one record. FILTERED deletes the fifth group.
    assert len(jobs.written("sums")) == before + 5
    jobs.send(events(60, 90))
    jobs.run(new)
    expected = (
        {g: {"g": g, "n": 18, "s": 36} for g in range(5)}
        if new == DOUBLED
        else {
            g: {"g": g, "n": len(vs), "s": sum(vs)}
            for g in range(4)
            if (vs := [e["v"] for e in events(0, 90) if e["g"] == g and e["v"] > 3])
        }
    )
    assert jobs.folded("sums") == expected
