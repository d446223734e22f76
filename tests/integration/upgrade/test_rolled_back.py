"""`--rollback` restores the earlier rows of the sinks and the old queries of the job."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.integration.upgrade.support import (
    COPY,
    FILTERED,
    GUARANTEES,
    SUMS,
    Jobs,
    LossOfPower,
    events,
)

from streamtable.core.errors import Condition, StreamtableError
from streamtable.runtime.upgrade import rollback

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker


@pytest.mark.parametrize("guarantee", GUARANTEES)
def test_a_rolled_back_job_continues(
    guarantee: str,
    spark: SparkSession,
    broker: Broker,
    topic: Topics,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    jobs = Jobs(spark, broker.bootstrap_servers, topic("upgrade"), tmp_path / "c", guarantee)
    jobs.send(events(0, 60))
    jobs.run(SUMS, COPY)
    before, records = jobs.folded("sums"), len(jobs.written("sums"))
    assert _refused(jobs, SUMS) == "there is no upgrade to roll back"
    jobs.upgrade(FILTERED, COPY)
    assert jobs.folded("sums") != before
    assert (
        _refused(jobs, FILTERED) == "the script has another query into sums than before the upgrade"
    )

    def fails(*_: object) -> None:
        raise LossOfPower

    with monkeypatch.context() as patch:
        patch.setattr(rollback, "write_manifest", fails)
        with pytest.raises(LossOfPower):
            jobs.upgrade(SUMS, COPY, rollback=True)
    with pytest.raises(StreamtableError, match="an upgrade was interrupted"):
        jobs.run(FILTERED, COPY)
    with pytest.raises(StreamtableError, match="a rollback was interrupted"):
        jobs.upgrade(FILTERED, COPY)
    jobs.upgrade(SUMS, COPY, rollback=True)
    assert jobs.folded("sums") == before
    # Five records of the upgrade, and five of the rollback.
    assert len(jobs.written("sums")) == records + 10
    jobs.send(events(60, 80))
    jobs.run(SUMS, COPY)
    groups = {g: [e["v"] for e in events(0, 80) if e["g"] == g] for g in range(5)}
    assert jobs.folded("sums") == {
        g: {"g": g, "n": len(vs), "s": sum(vs)} for g, vs in groups.items()
    }
    assert jobs.copied() == dict.fromkeys(range(80), 1)


def test_a_rollback_after_a_further_run_is_refused(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    jobs = Jobs(spark, broker.bootstrap_servers, topic("upgrade"), tmp_path / "c", "at-least-once")
    jobs.send(events(0, 20))
    jobs.run(SUMS)
    jobs.upgrade(FILTERED)
    jobs.send(events(20, 30))
    jobs.run(FILTERED)
    assert _refused(jobs, SUMS) == "sums has read further since the upgrade"


@pytest.mark.parametrize("has_it", [True, False])
def test_a_query_missing_from_the_script_before_the_upgrade(
    has_it: bool, spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    jobs = Jobs(spark, broker.bootstrap_servers, topic("upgrade"), tmp_path / "c", "at-least-once")
    jobs.send(events(0, 40))
    jobs.run(SUMS, COPY)
    jobs.run(COPY)
    before = jobs.folded("sums")
    jobs.upgrade(FILTERED, COPY)
    upgraded = jobs.folded("sums")
    assert upgraded != before
    jobs.upgrade(*([SUMS, COPY] if has_it else [COPY]), rollback=True)
    assert jobs.folded("sums") == (before if has_it else upgraded)
    jobs.send(events(40, 60))
    jobs.run(COPY)
    assert jobs.copied() == dict.fromkeys(range(60), 1)
    # The query continues with the rows that its sink has.
    jobs.run(SUMS if has_it else FILTERED, COPY)
    kept = [e for e in events(0, 60) if has_it or (e["g"] != 4 and e["v"] > 3)]
    groups = {g: [e["v"] for e in kept if e["g"] == g] for g in {e["g"] for e in kept}}
    assert jobs.folded("sums") == {
        g: {"g": g, "n": len(vs), "s": sum(vs)} for g, vs in groups.items()
    }


def _refused(jobs: Jobs, *inserts: str) -> str:
    with pytest.raises(StreamtableError) as refused:
        jobs.upgrade(*inserts, COPY, rollback=True)
    assert refused.value.condition is Condition.CHECKPOINT_NOT_UPGRADED
    return str(refused.value.values["reason"])
