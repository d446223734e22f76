"""A changed query is rebuilt: its sink gets the rows that differ, and the job continues."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.upgrade.support import COPY, GUARANTEES, Jobs, events

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

SUMS = "INSERT INTO sums SELECT g, COUNT(*), SUM(v) FROM t{} GROUP BY g;"
FILTER = " WHERE v > 3 AND g <> 4"


def _sums(rows: list[dict[str, int]], *, filtered: bool) -> dict[int, dict[str, Any]]:
    found: dict[int, list[int]] = defaultdict(list)
    for row in rows:
        if not filtered or (row["v"] > 3 and row["g"] != 4):
            found[row["g"]].append(row["v"])
    return {g: {"g": g, "n": len(vs), "s": sum(vs)} for g, vs in found.items()}


@pytest.mark.parametrize("guarantee", GUARANTEES)
def test_a_filter_is_added(
    guarantee: str, spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    source = topic("upgrade", partitions=2)
    jobs = Jobs(spark, broker.bootstrap_servers, source, tmp_path / "c", guarantee)
    jobs.send(events(0, 100))
    jobs.run(SUMS.format(""), COPY)
    written = len(jobs.written("sums"))
    # The upgrade leaves records that the old query has not read to the next run.
    jobs.send(events(100, 130))
    before = jobs.written("sums"), jobs.folded("sums")
    planned = jobs.upgrade(SUMS.format(FILTER), COPY, plan=True)
    size = f"  reads 100 records again, and compares 5 keys of topic '{source}-sums'"
    assert size in planned, planned
    assert (tmp_path / "c" / "upgrade.json").exists() is False
    assert jobs.written("sums") == before[0]
    said = jobs.upgrade(SUMS.format(FILTER), COPY)
    expected = _sums(events(0, 100), filtered=True)
    assert jobs.folded("sums") == expected
    old = before[1]
    differing = [g for g in {**old, **expected} if old.get(g) != expected.get(g)]
    assert len(jobs.written("sums")) == written + len(differing), said
    jobs.send(events(130, 150))
    jobs.run(SUMS.format(FILTER), COPY)
    assert jobs.folded("sums") == _sums(events(0, 150), filtered=True)
    assert jobs.copied() == dict.fromkeys(range(150), 1)
    # Back to the old query: the second upgrade has ids and directories of its own.
    jobs.upgrade(SUMS.format(""), COPY)
    jobs.send(events(150, 160))
    jobs.run(SUMS.format(""), COPY)
    assert jobs.folded("sums") == _sums(events(0, 160), filtered=False)
