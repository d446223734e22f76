"""Joins that add the rows of append-only inputs to their state without a search for equal rows.

The other input has rows for few keys, so a task that has asked for many knows the others to have
none (`KnownGroups`).
"""

from __future__ import annotations

import random
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.differential.joins.support import JoinJob
from tests.integration.event_time.support import ONE_TASK
from tests.integration.jobs.support import Cli, write

from streamtable.plan.join.join import Join
from streamtable.testing.answers import set_for_a_while
from streamtable.testing.histories import Change, fold, random_history
from streamtable.testing.topics import produce_changes, produce_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

#: Keys of the append-only input. A task asks for a thousand before it reads those of the other one.
_KEYS = 6_000
#: Every 100th key may have rows of the other input.
_RARE = 100
_SCRIPT = """
CREATE TABLE e (g INT, v INT) WITH (
  'connector' = 'kafka', 'topic' = '${e}', 'properties.bootstrap.servers' = '${servers}',
  'scan.startup.mode' = 'earliest-offset', 'format' = 'json'
);
CREATE TABLE b (k INT, g INT, w INT, PRIMARY KEY (k) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${b}', 'properties.bootstrap.servers' = '${servers}',
  'key.format' = 'json', 'value.format' = 'json'
);
CREATE TABLE o (v INT, w INT, n BIGINT, PRIMARY KEY (v, w) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${o}', 'properties.bootstrap.servers' = '${servers}',
  'key.format' = 'json', 'value.format' = 'json'
);
INSERT INTO o
SELECT v, COALESCE(w, -1), COUNT(*) FROM e ${kind} JOIN b ON e.g = b.g GROUP BY v, COALESCE(w, -1);
"""

_Row = dict[str, int]


class _Job(JoinJob):
    """Runs of a join of `e` and `b`, and what it must have counted."""

    def __init__(
        self, spark: SparkSession, broker: Broker, topic: Topics, folder: Path, kind: str
    ) -> None:
        self._servers, self._kind = broker.bootstrap_servers, kind
        topics = {name: topic(name) for name in "ebo"}
        self.names = {**topics, "servers": self._servers, "kind": kind}
        super().__init__(spark, _SCRIPT, folder, self.names)
        self._events: list[_Row] = []
        self._changes: list[Change] = []

    def add(self, events: Sequence[_Row], changes: Sequence[Change]) -> None:
        produce_json(self._servers, self.names["e"], events)
        produce_changes(self._servers, self.names["b"], "k", changes)
        self._events += events
        self._changes += changes

    def is_right(self) -> bool:
        found = {(row["v"], row["w"]): row["n"] for row in self.run.rows("o").values()}
        return found == self._expected()

    def _expected(self) -> Mapping[tuple[int, int], int]:
        rows: dict[int, list[int]] = {}
        for row in fold(self._changes).values():
            rows.setdefault(row["g"], []).append(row["w"])
        none = [-1] if self._kind == "LEFT" else []
        pairs = ((e["v"], w) for e in self._events for w in rows.get(e["g"], none))
        return dict(Counter(pairs))


def _events(dice: random.Random, count: int = 8_000) -> list[_Row]:
    """Return random rows, of which many are equal."""
    return [{"g": dice.randrange(_KEYS), "v": dice.randrange(4)} for _ in range(count)]


def _changes(seed: int, length: int = 60) -> list[Change]:
    def values(dice: random.Random) -> dict[str, Any]:
        return {"g": _RARE * dice.randrange(_KEYS // _RARE), "w": dice.randrange(3)}

    return random_history(seed, length=length, keys=25, make=values)


@pytest.mark.parametrize(
    "seed", [41, *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(42, 48))]
)
@pytest.mark.parametrize("kind", ["INNER", "LEFT"])
def test_rows_are_joined_over_restarts_and_a_rescale(
    kind: str, seed: int, spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    """Batches differ in size, and equal rows come in one batch and in several ones."""
    dice = random.Random(seed)
    job = _Job(spark, broker, topic, tmp_path / "c", kind)
    with set_for_a_while(spark, ONE_TASK):
        for number in range(3):
            job.add(_events(dice), _changes(seed * 10 + number))
            job.run({"execution.micro-batch.max-records": str(dice.choice([5_000, 50_000]))})
            assert job.is_right(), (seed, number)
            if number == 1:
                job.rescale(2)
    state, layout = job.state
    assert ["AppendJoin", 1] in state
    assert layout == 9


def test_the_first_rows_of_batches_are_kept_apart(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    job = _Job(spark, broker, topic, tmp_path / "c", "INNER")
    for v in (1, 1, 2):
        job.add([{"g": 5, "v": v}], [])
        job.run()
    job.add([], [Change(1, {"g": 5, "w": 0})])
    job.run()
    assert job.is_right()


def test_rows_are_joined_in_real_time(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    """A key of the other input is new after the task has read which keys there are."""
    dice = random.Random(51)
    job = _Job(spark, broker, topic, tmp_path / "c", "INNER")
    job.add(_events(dice), _changes(52))
    process = Cli.start(
        *("run", write(tmp_path / "job.sql", _SCRIPT), "--checkpoint", str(tmp_path / "c")),
        *("--set", "execution.mode=real-time", "--set", "parallelism.default=1"),
        # One task for all rows.
        *("--set", "execution.checkpointing.interval=5 min"),
        *("--set", "execution.real-time.first-checkpoints=0"),
        *(part for pair in job.names.items() for part in ("--var", "=".join(pair))),
    )
    try:
        for events, changes in (
            ([], [Change(100, {"g": 7, "w": 1})]),
            ([{"g": 7, "v": 1}, {"g": 8, "v": 1}], []),
            (_events(dice), [Change(101, {"g": 8, "w": 2}), Change(100, None)]),
            ([{"g": 8, "v": 2}, {"g": 7, "v": 2}], []),
        ):
            process.until(job.is_right)
            job.add(events, changes)
        process.until(job.is_right)
    finally:
        process.kill()


def test_an_older_checkpoint_counts_equal_rows(
    spark: SparkSession,
    broker: Broker,
    topic: Topics,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The rows of an earlier version keep their state and its layout."""
    dice = random.Random(61)
    job = _Job(spark, broker, topic, tmp_path / "c", "INNER")
    job.add(_events(dice, 3_000), _changes(62))
    with monkeypatch.context() as earlier:
        earlier.setattr(Join, "appends", lambda _self, *, left: left and False)
        job.run()
    assert job.is_right()
    job.add(_events(dice, 3_000), _changes(63))
    job.run()
    assert job.is_right()
    state, layout = job.state
    assert ["Join", 1] in state
    assert layout < 9
