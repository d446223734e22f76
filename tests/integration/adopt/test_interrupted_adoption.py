"""If an adoption is interrupted in any of its steps, the same command finishes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.adopt.support import Adopter, sums
from tests.integration.upgrade.support import COUNTS, FILTERED, SUMS, LossOfPower, events

from streamtable.core.errors import StreamtableError
from streamtable.runtime.adopt import adoption
from streamtable.runtime.upgrade import steps
from streamtable.runtime.upgrade.mark import Mark

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker


def test_an_adoption_interrupted_at_any_step_continues(
    spark: SparkSession,
    broker: Broker,
    topic: Topics,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source = topic("adopt")
    jobs = Adopter(spark, broker.bootstrap_servers, source, tmp_path, "exactly-once")
    jobs.send(events(0, 60))
    jobs.other.run(FILTERED)  # five of the rows differ; one of these is missing
    before = len(jobs.written("sums"))
    at = {source: {0: 60}}

    def fails(owner: Any, name: str, *, afterwards: bool) -> None:
        """Run an adoption that is interrupted before or after a call of a function."""
        real = getattr(owner, name)

        def call(*arguments: Any, **named: Any) -> None:
            if afterwards:
                real(*arguments, **named)
            raise LossOfPower

        with monkeypatch.context() as patch:
            patch.setattr(owner, name, call)
            with pytest.raises(LossOfPower):
                jobs.adopt(SUMS, at=at)

    fails(steps.Shadow, "run", afterwards=False)
    jobs.send(events(60, 70))  # not read: the first command has fixed the end offsets
    with pytest.raises(StreamtableError, match="an adoption was interrupted"):
        jobs.run(SUMS)
    with pytest.raises(StreamtableError, match="an adoption with other queries was interrupted"):
        jobs.adopt(SUMS, COUNTS)
    with pytest.raises(StreamtableError, match="an adoption up to other offsets was interrupted"):
        jobs.adopt(SUMS, at={source: {0: 61}})
    fails(steps.Shadow, "run", afterwards=True)
    fails(adoption, "compare", afterwards=True)
    fails(steps, "write", afterwards=True)
    fails(steps, "write_manifest", afterwards=False)
    fails(steps, "write_manifest", afterwards=True)
    fails(Mark, "delete", afterwards=False)
    with pytest.raises(StreamtableError, match="an adoption was interrupted"):
        jobs.upgrade(SUMS)
    jobs.adopt(SUMS, at=at)
    assert jobs.folded("sums") == sums(events(0, 60))
    assert len(jobs.written("sums")) == before + 5
    jobs.run(SUMS)
    assert jobs.folded("sums") == sums(events(0, 70))
