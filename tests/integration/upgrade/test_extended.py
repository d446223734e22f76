"""A query whose aggregates change continues with the state of its groups."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient
from tests.integration.upgrade.support import GUARANTEES, Jobs, events

from streamtable.core.errors import StreamtableError

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

SUMS = "INSERT INTO sums SELECT g, {}, {} FROM t GROUP BY g;"


def _forget(jobs: Jobs) -> None:
    """Delete all records of the topic that the jobs read."""
    admin = AdminClient({"bootstrap.servers": jobs.servers})
    partition = TopicPartition(jobs.source, 0, -1)
    admin.delete_records([partition])[partition].result(30)


def _values(start: int, end: int) -> dict[int, list[int]]:
    """Return the values of each group."""
    return {g: [e["v"] for e in events(start, end) if e["g"] == g] for g in range(5)}


@pytest.mark.parametrize("guarantee", GUARANTEES)
def test_a_known_result_needs_no_records(
    guarantee: str, spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    """An added aggregate takes its state from the aggregates that stay. Another one is removed."""
    jobs = Jobs(spark, broker.bootstrap_servers, topic("upgrade"), tmp_path / "c", guarantee)
    old = SUMS.format("COUNT(DISTINCT v)", "SUM(v * 2) + MAX(v)")
    new = SUMS.format("COUNT(*)", "COUNT(DISTINCT v) * 1000 + MAX(v)")
    jobs.send(events(0, 60))
    jobs.run(old)
    before, written = jobs.folded("sums"), len(jobs.written("sums"))
    _forget(jobs)
    size = f"  reads the state of its groups, and compares 5 keys of topic '{jobs.source}-sums'"
    assert size in jobs.upgrade(new, plan=True)
    said = jobs.upgrade(new)
    assert said[0].startswith("sums: extended: "), said

    def expected(end: int) -> dict[int, dict[str, int]]:
        return {
            g: {"g": g, "n": len(vs), "s": len(set(vs)) * 1000 + max(vs)}
            for g, vs in _values(0, end).items()
        }

    assert jobs.folded("sums") == expected(60)
    assert len(jobs.written("sums")) == written + 5
    jobs.upgrade(old, rollback=True)
    assert jobs.folded("sums") == before
    jobs.upgrade(new)
    jobs.send(events(60, 100))
    jobs.run(new)
    assert jobs.folded("sums") == expected(100)
    # A rebuild would need the records from the start of the first run.
    with pytest.raises(StreamtableError, match="the first run read from offset 0"):
        jobs.upgrade(new.replace(" GROUP", " WHERE v > 3 GROUP"))


def test_many_groups_keep_their_state(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    """Each task has more groups than it reads without a cursor (`OrderedValue`)."""
    jobs = Jobs(spark, broker.bootstrap_servers, topic("upgrade"), tmp_path / "c", "at-least-once")
    jobs.send([{"g": g, "v": g % 7} for g in range(3_000)])
    jobs.run(SUMS.format("COUNT(*)", "SUM(v)"))
    jobs.upgrade(SUMS.format("COUNT(*)", "SUM(v) * 10"))
    assert jobs.folded("sums") == {g: {"g": g, "n": 1, "s": g % 7 * 10} for g in range(3_000)}


def test_an_added_aggregate_starts_empty_from_now(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    """The added aggregate reads a column that the table did not have before."""
    jobs = Jobs(spark, broker.bootstrap_servers, topic("upgrade"), tmp_path / "c", "at-least-once")
    tables = jobs.tables
    jobs.tables = tables.replace("g INT, v INT)", "g INT)", 1)
    new = SUMS.format("COUNT(*)", "SUM(v) + COUNT(DISTINCT v)")
    jobs.send(e for e in events(0, 60) if e["g"] != 4)
    jobs.run(SUMS.format("COUNT(*)", "-1"))
    _forget(jobs)
    jobs.tables = tables
    with pytest.raises(StreamtableError, match="--from-now lets the query continue"):
        jobs.upgrade(new)
    said = jobs.upgrade(new, from_now=True)
    assert said[0].startswith("sums: extended, from now: "), said
    assert said[0].endswith(
        "; SUM(v) AS sum_v, COUNT(DISTINCT v) AS count_distinct_v start empty"
    ), said
    assert jobs.folded("sums") == {g: {"g": g, "n": 12, "s": None} for g in range(4)}
    jobs.send(events(60, 100))
    jobs.run(new)
    assert jobs.folded("sums") == {
        g: {"g": g, "n": len(vs) + (12 if g != 4 else 0), "s": sum(vs) + len(set(vs))}
        for g, vs in _values(60, 100).items()
    }
