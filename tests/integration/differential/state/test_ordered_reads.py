"""Values in state, of which a task reads more than 1,280, also with a cursor (`OrderedValue`)."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
from tests.integration.event_time.support import ONE_TASK
from tests.integration.jobs.support import Cli, write

from streamtable.testing.answers import set_for_a_while
from streamtable.testing.histories import Change, fold, random_history
from streamtable.testing.jobs import BoundedRun
from streamtable.testing.topics import produce_changes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

_SCRIPT = """
CREATE TABLE a (k BIGINT, v INT, PRIMARY KEY (k) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${a}', 'properties.bootstrap.servers' = '${servers}',
  'key.format' = 'json', 'value.format' = 'json'
);
CREATE TABLE o (g STRING, n BIGINT, v INT, PRIMARY KEY (g) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${o}', 'properties.bootstrap.servers' = '${servers}',
  'key.format' = 'json', 'value.format' = 'json'
);
INSERT INTO o SELECT CAST(g AS STRING), COUNT(*), SUM(v)
FROM (SELECT ${key} AS g, v FROM a) AS t GROUP BY g;
"""


#: Expression of a group -> the same for a key in Python.
_GROUPS: dict[str, Callable[[int], int]] = {
    "k": int,
    "CAST(k AS STRING)": int,
    "ABS(k)": abs,
}


class _Job:
    """A script that groups the keys of `a`, and the rows that it must have."""

    def __init__(self, spark: SparkSession, broker: Broker, topic: Topics, folder: Path) -> None:
        self.folder = folder
        self.names = {"a": topic("a"), "o": topic("o"), "servers": broker.bootstrap_servers}
        self.names["key"] = "k"
        self._spark, self._changes = spark, list[Change]()

    def grouped_by(self, key: str) -> BoundedRun:
        self.names["key"] = key
        return BoundedRun(self._spark, _SCRIPT, self.folder, self.names)

    def add(self, changes: Sequence[Change]) -> None:
        produce_changes(self.names["servers"], self.names["a"], "k", changes)
        self._changes += changes

    def is_right(self, run: BoundedRun) -> bool:
        groups: dict[str, list[int]] = {}
        for key, row in fold(self._changes).items():
            groups.setdefault(str(_GROUPS[self.names["key"]](key)), []).append(row["v"])
        expected = {group: (len(values), sum(values)) for group, values in groups.items()}
        rows = run.rows("o").values()
        return {row["g"]: (row["n"], row["v"]) for row in rows} == expected


def _random(seed: int, *, length: int, keys: int) -> list[Change]:
    """Return changes of keys of both signs and of all lengths."""
    history = random_history(seed, length, keys, lambda dice: {"v": dice.randrange(9)})
    return [
        Change((2 * change.key + 1 - keys) << change.key % 40, change.values) for change in history
    ]


@pytest.fixture
def job(spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path) -> _Job:
    return _Job(spark, broker, topic, tmp_path / "c")


@pytest.mark.parametrize(
    "seed", [11, *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(12, 18))]
)
@pytest.mark.parametrize("key", _GROUPS)
def test_groups_are_read_over_restarts(key: str, seed: int, job: _Job, spark: SparkSession) -> None:
    dice = random.Random(seed)
    run = job.grouped_by(key)
    with set_for_a_while(spark, ONE_TASK):
        for number in range(3):
            keys = dice.choice([3_000, 9_000])
            job.add(_random(seed * 10 + number, length=6_000, keys=keys))
            run({"execution.micro-batch.max-records": "3000"})
            assert job.is_right(run), (seed, number)


def test_groups_are_read_in_any_order_in_real_time(job: _Job, tmp_path: Path) -> None:
    """The first changes go round a hundred keys in the order of their bytes. While a task measures
    searches, it writes keys behind the last one of its cursor.
    """
    keys = [*range(50), *range(-50, 0)]
    rounds = [Change(keys[read % len(keys)], {"v": read}) for read in range(1_600)]
    run = job.grouped_by("ABS(k)")
    process = Cli.start(
        *("run", write(tmp_path / "job.sql", _SCRIPT), "--checkpoint", str(job.folder)),
        *("--set", "execution.mode=real-time", "--set", "parallelism.default=1"),
        # One task for all rows.
        *("--set", "execution.checkpointing.interval=5 min"),
        *("--set", "execution.real-time.first-checkpoints=0"),
        *("--set", "execution.real-time.bundle-size=1"),
        *(part for pair in job.names.items() for part in ("--var", "=".join(pair))),
    )
    try:
        for changes in (rounds, _random(21, length=2_000, keys=300)):
            job.add(changes)
            process.until(lambda: job.is_right(run))
    finally:
        process.kill()
