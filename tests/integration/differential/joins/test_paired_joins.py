"""Joins whose inputs have at most one row per join key, and which keep both in one state."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.differential.joins.support import JoinJob
from tests.integration.event_time.support import ONE_TASK

from streamtable.plan.join.join import Join
from streamtable.testing.answers import set_for_a_while
from streamtable.testing.histories import Change, fold, random_history
from streamtable.testing.topics import produce_changes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

_TABLE = """
CREATE TABLE {name} (k INT, {columns}, PRIMARY KEY (k) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${{{name}}}',
  'properties.bootstrap.servers' = '${{servers}}', 'key.format' = 'json', 'value.format' = 'json'
);
"""
_SCRIPT = (
    _TABLE.format(name="a", columns="v INT")
    + _TABLE.format(name="b", columns="v INT")
    + _TABLE.format(name="o", columns="x INT, y INT")
    + """
INSERT INTO o SELECT COALESCE(a.k, b.k), a.v, b.v FROM a ${kind} JOIN b ON a.k = b.k${condition};
"""
)
_KEYS = 40
_LESS = " AND a.v < b.v"


class _Job(JoinJob):
    """Runs of a join of `a` and `b`, and the rows that it must have."""

    def __init__(
        self,
        spark: SparkSession,
        broker: Broker,
        topic: Topics,
        folder: Path,
        kind: str,
        condition: str,
    ) -> None:
        self._servers, self._kind, self._condition = broker.bootstrap_servers, kind, condition
        self._names = {name: topic(name) for name in "abo"}
        texts = {"servers": self._servers, "kind": kind, "condition": condition}
        super().__init__(spark, _SCRIPT, folder, self._names | texts)
        self._changes: dict[str, list[Change]] = {"a": [], "b": []}

    def add(self, seed: int) -> None:
        """Change both inputs."""
        for number, (name, before) in enumerate(self._changes.items()):
            changes = random_history(2 * seed + number, length=90, keys=_KEYS, make=_values)
            produce_changes(self._servers, self._names[name], "k", changes)
            self._changes[name] = before + changes

    def is_right(self) -> bool:
        rows = self.run.rows("o").values()
        return {row["k"]: (row["x"], row["y"]) for row in rows} == dict(self._expected())

    def _expected(self) -> Iterator[tuple[int, tuple[int | None, int | None]]]:
        a, b = (fold(changes) for changes in self._changes.values())
        for k in sorted({*a, *b}):
            x, y = (side[k]["v"] if k in side else None for side in (a, b))
            matches = x is not None and y is not None and (not self._condition or x < y)
            if matches:
                yield k, (x, y)
            elif x is not None and self._kind in ("LEFT", "FULL"):
                yield k, (x, None)
            elif y is not None and self._kind == "FULL":
                yield k, (None, y)


def _values(dice: random.Random) -> dict[str, Any]:
    return {"v": dice.randrange(6)}


@pytest.mark.parametrize(
    "seed", [71, *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(72, 78))]
)
@pytest.mark.parametrize(
    ("kind", "condition"), [("INNER", ""), ("LEFT", _LESS), ("FULL", "")], ids=str
)
def test_rows_are_joined_over_restarts_and_a_rescale(
    kind: str,
    condition: str,
    seed: int,
    spark: SparkSession,
    broker: Broker,
    topic: Topics,
    tmp_path: Path,
) -> None:
    job = _Job(spark, broker, topic, tmp_path / "c", kind, condition)
    with set_for_a_while(spark, ONE_TASK):
        for number in range(4):
            job.add(seed * 10 + number)
            job.run({"execution.micro-batch.max-records": "70"})
            assert job.is_right(), (seed, number)
            if number == 1:
                job.rescale(2)
    state, layout = job.state
    assert ["PairedJoin", 1] in state
    assert layout == 10


def test_an_older_checkpoint_keeps_a_state_for_each_input(
    spark: SparkSession,
    broker: Broker,
    topic: Topics,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    job = _Job(spark, broker, topic, tmp_path / "c", "LEFT", _LESS)
    job.add(81)
    with monkeypatch.context() as earlier:
        earlier.setattr(Join, "is_paired", False)
        job.run()
    assert job.is_right()
    job.add(82)
    job.run()
    assert job.is_right()
    state, layout = job.state
    assert ["Join", 1] in state
    assert layout < 9
