"""Upgrade, roll back and adopt with a checkpoint on HDFS or S3."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.adopt.support import Adopter
from tests.integration.upgrade.support import Jobs, events

from streamtable.core.errors import Condition, StreamtableError
from streamtable.runtime.upgrade.options import UpgradeOptions
from streamtable.runtime.upgrade.upgrade import upgrade_job
from streamtable.session import fixed_settings

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.conftest import Topics
    from tests.integration.stores.servers import Store

    from streamtable.devbroker.broker import Broker

_OLD = "INSERT INTO sums SELECT g, COUNT(*), SUM(v) FROM t GROUP BY g;"
_EXTENDED = _OLD.replace(";", " HAVING SUM(v) > 100;")
_REBUILT = _OLD.replace("GROUP BY", "WHERE v > 3 GROUP BY")


def _answer(count: int, least: int = -1, above: int = -1) -> dict[int, dict[str, Any]]:
    rows: dict[int, dict[str, Any]] = {}
    for event in events(0, count):
        if event["v"] > least:
            row = rows.setdefault(event["g"], {"g": event["g"], "n": 0, "s": 0})
            row["n"] += 1
            row["s"] += event["v"]
    return {g: row for g, row in rows.items() if row["s"] > above}


@pytest.mark.parametrize(
    "server", ["s3a", pytest.param("hdfs", marks=pytest.mark.soak)], indirect=True
)
def test_a_query_is_extended(
    spark: SparkSession, broker: Broker, topic: Topics, store: Store
) -> None:
    jobs = _jobs(spark, broker, topic, store)
    jobs.send(events(0, 60))
    jobs.run(_OLD)
    said = jobs.upgrade(_EXTENDED)
    assert said[0].startswith("sums: extended: "), said
    assert jobs.folded("sums") == _answer(60, above=100)
    jobs.send(events(60, 90))
    jobs.run(_EXTENDED)
    assert jobs.folded("sums") == _answer(90, above=100)


@pytest.mark.soak
def test_a_query_is_rebuilt_and_rolled_back(
    spark: SparkSession, broker: Broker, topic: Topics, store: Store
) -> None:
    jobs = _jobs(spark, broker, topic, store)
    jobs.send(events(0, 60))
    jobs.run(_OLD)
    said = jobs.upgrade(_REBUILT)
    assert said[0].startswith("sums: rebuilt: "), said
    assert jobs.folded("sums") == _answer(60, 3)
    jobs.upgrade(_OLD, rollback=True)
    assert jobs.folded("sums") == _answer(60)
    jobs.send(events(60, 90))
    jobs.run(_OLD)
    assert jobs.folded("sums") == _answer(90)


@pytest.mark.soak
def test_topics_are_adopted(
    spark: SparkSession, broker: Broker, topic: Topics, store: Store, tmp_path: Path
) -> None:
    source = topic("stored", partitions=2)
    jobs = Adopter(spark, broker.bootstrap_servers, source, tmp_path)
    jobs.checkpoint = store.root
    jobs.send(events(0, 60))
    jobs.other.run(_OLD)
    jobs.plant("sums", 2, '{"g":2,"n":0,"s":0}')
    said = jobs.adopt(_OLD)
    assert "1 get another or a first row and 0 are deleted" in said[1], said
    assert jobs.folded("sums") == _answer(60)
    jobs.send(events(60, 90))
    jobs.run(_OLD)
    assert jobs.folded("sums") == _answer(90)


def _jobs(spark: SparkSession, broker: Broker, topic: Topics, store: Store) -> Jobs:
    source = topic("stored", partitions=2)
    return Jobs(spark, broker.bootstrap_servers, source, store.root, "exactly-once")


def test_stop_job_is_refused(servers: Callable[[str], Store]) -> None:
    options = UpgradeOptions(f"{servers('s3a').root}/none", stop_job=True)
    with pytest.raises(StreamtableError) as refused:
        upgrade_job([], fixed_settings({}).current(), options, print, print)
    assert refused.value.condition is Condition.NOT_YET
    assert "--stop-job" in str(refused.value)
