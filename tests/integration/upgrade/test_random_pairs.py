"""Random upgrades over random histories: each topic equals Spark's batch answer."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.differential.support import Query
from tests.integration.differential.topics.on_kafka import COLUMNS, KafkaJob, histories
from tests.integration.jobs.support import Cli, write
from tests.integration.upgrade.support import LossOfPower, power_lost

from streamtable.core.errors import Condition, StreamtableError
from streamtable.plan.keys import unique_keys
from streamtable.runtime.upgrade import steps
from streamtable.runtime.upgrade.options import UpgradeOptions
from streamtable.runtime.upgrade.shadow import Shadow
from streamtable.runtime.upgrade.upgrade import upgrade_job
from streamtable.session import Session, fixed_settings
from streamtable.testing.jobs import BoundedRun
from streamtable.testing.planned import planned
from streamtable.testing.random_queries import Queries
from streamtable.testing.relations import Dialect, Group, Kind, Read, Relation, Sql
from streamtable.testing.replayed import Replayed, Style
from streamtable.testing.topics import records

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

_TABLES = {name: Replayed(Style.UPSERT, COLUMNS, ()) for name in "ab"}
#: Sink keys are not NULL. Rows with NULL keys are dropped, also from the answers.
_DROP = {"table.exec.sink.not-null-enforcer": "DROP"}

_Pair = tuple[Query, Query]
_Draw = Callable[[Queries, int], list[_Pair]]
_Records = Mapping[str, Sequence[tuple[bytes, bytes | None]]]


def _random_pairs(grammar: Queries, count: int) -> list[_Pair]:
    """Return pairs of queries whose sinks have the same key columns.

    A reader of keys sees no rows with other key columns.
    """
    found: list[_Pair] = []
    waiting: dict[tuple[int, ...], Query] = {}
    while len(found) < count:
        query = _random_query(grammar)
        other = waiting.pop(query.key, query)
        if other == query:
            waiting[query.key] = query
        else:
            found.append((other, query))
    return found


def _random_aggregates(grammar: Queries, count: int) -> list[_Pair]:
    """Return pairs of queries that differ in their aggregates, the order of these, or HAVING."""
    found: list[_Pair] = []
    while len(found) < count:
        groups = (grammar.query() for _ in range(100))
        keyed = [group for group in groups if isinstance(group, Group) and group.keys]
        for one, other in pairwise(keyed):
            if one.input.kinds == other.input.kinds and len(found) < count:
                before, after = _query(one), _query(_changed(grammar.dice, one, other))
                if before and after and before.key == after.key and before != after:
                    found.append((before, after))
                    break
    return found


def _changed(dice: random.Random, group: Group, other: Group) -> Group:
    """Return the group with some of its aggregates, perhaps one of `other`, and perhaps HAVING."""
    first = len(group.keys)
    calls = list(zip(group.calls, group.kinds[first:], strict=True))
    chosen = dice.sample(calls, dice.randint(min(1, len(calls)), len(calls)))
    if other.calls and dice.random() < 0.3:
        chosen.append((other.calls[0], other.kinds[len(other.keys)]))
    kinds = (*group.kinds[:first], *(kind for _, kind in chosen))
    having = dice.choice([group.having, None, Sql.same("COUNT(*) > 1")]) if chosen else None
    return Group(kinds, group.input, group.keys, tuple(call for call, _ in chosen), having)


def _random_query(grammar: Queries) -> Query:
    """Return a random query with a key for its sink."""
    while (query := _query(grammar.query())) is None:
        pass
    return query


def _query(relation: Relation) -> Query | None:
    """Return the query of a relation, or None if it has no key for a sink or cannot be rebuilt."""
    if Kind.HEAP in relation.kinds:
        return None
    try:
        plan = planned(relation.sql(Dialect.FLINK), _TABLES)
    except StreamtableError as error:
        assert error.condition is Condition.NOT_YET
        return None
    names = [column.field.name for column in plan.columns]
    keys = [key for key in unique_keys(plan.node) if key and set(key) <= set(names)]
    # A lookup join cannot be rebuilt.
    if not keys or any(node.by_processing_time for node in _nodes(plan.node)):
        return None
    key = tuple(names.index(name) for name in keys[0])
    return Query(key, relation.sql(Dialect.FLINK), relation.sql(Dialect.SPARK))


def _nodes(node: Any) -> list[Any]:
    return [node, *(below for child in node.inputs for below in _nodes(child))]


class _SameTopics:
    """Factory of topics: one topic per prefix, so that two jobs share their topics."""

    def __init__(self, topic: Topics) -> None:
        self._topic, self._made = topic, dict[str, str]()

    def __call__(
        self, prefix: str = "t", *, partitions: int = 1, config: dict[str, str] | None = None
    ) -> str:
        if prefix not in self._made:
            self._made[prefix] = self._topic(prefix, partitions=partitions, config=config)
        return self._made[prefix]


class _Pairs:
    """Two jobs of one checkpoint, before and after an upgrade, over random histories.

    Attributes:
        said: lines that the upgrades have printed.
    """

    def __init__(
        self,
        draw: _Draw,
        seed: int,
        count: int,
        spark: SparkSession,
        broker: Broker,
        topic: Topics,
        directory: Path,
    ) -> None:
        self.dice, self._spark = random.Random(seed), spark
        self._servers, self.checkpoint = broker.bootstrap_servers, directory / "checkpoint"
        self.said: list[str] = []
        reads = [Read((Kind.NUMBER,) * 3, name, ("k", "g", "v")) for name in "ab"]
        drawn = draw(Queries(self.dice, reads), count)
        same = _SameTopics(topic)
        self.before, self.after = (
            KafkaJob(
                spark,
                self._servers,
                same,
                directory,
                {f"q{i}": pair[side] for i, pair in enumerate(drawn)},
            )
            for side in (0, 1)
        )
        self.after._done = self.before._done
        self._cut = histories(seed, cuts=2)

    def feed(self, part: int) -> None:
        """Write a part of the histories to the source topics."""
        for name, cut in self._cut.items():
            self.before.feed(name, cut[part])

    def run(self, job: KafkaJob) -> None:
        """Run a job over the input so far."""
        self._bounded(job)(_DROP)

    def upgrade(self) -> None:
        """Upgrade the checkpoint to the new queries."""
        session = Session(settings=fixed_settings(_DROP))
        session.load(self.after.script, "new.sql")
        options = UpgradeOptions(str(self.checkpoint))
        say, settings = self.said.append, session.settings.current()
        upgrade_job(session.plans, settings, options, say, say, spark=self._spark)

    def records(self) -> _Records:
        """Return the key and value of each record of the sinks' topics."""
        job = self._bounded(self.after)
        topics = {name: job.table(name).topics[0] for name in self.after.queries}
        return {
            name: [(r.key(), r.value()) for r in records(self._servers, topic)]
            for name, topic in topics.items()
        }

    def check_written(self, before: _Records) -> None:
        """Check that only keys whose records differ were written."""
        for name, now in self.records().items():
            old, new = dict(before[name]), dict(now)
            differing = {key for key in new if new[key] != old.get(key)}
            written = [key for key, _ in now[len(before[name]) :]]
            assert set(written) == differing, (name, self.said)

    def check(self) -> None:
        """Check that the topics hold Spark's answers of the new queries."""
        answers = {
            name: {row for row in rows if all(row[i] is not None for i in self._key(name))}
            for name, rows in self.after.answers().items()
        }
        assert not self.after.wrong(answers), self.said

    def _bounded(self, job: KafkaJob) -> BoundedRun:
        return BoundedRun(self._spark, job.script, self.checkpoint)

    def _key(self, name: str) -> list[int]:
        """Return the positions of the key columns among the columns sorted by name."""
        query = self.after.queries[name]
        names = [c.field.name for c in planned(query.sql, _TABLES).columns]
        return [sorted(names).index(names[i]) for i in query.key]


_SOAKS = [
    pytest.param(draw, seed, 10, marks=pytest.mark.soak)
    for draw in (_random_pairs, _random_aggregates)
    for seed in range(100)
]
#: Steps of an upgrade: a function, and whether the power is lost after its call or before.
_LOSSES = [
    (Shadow, "run", True),
    (steps, "compare", True),
    (steps, "write", True),
    (steps, "write_manifest", False),
]


@pytest.mark.parametrize(
    ("draw", "seed", "count"), [(_random_pairs, 5, 2), (_random_aggregates, 3, 1), *_SOAKS]
)
def test_random_upgrades(
    draw: _Draw,
    seed: int,
    count: int,
    spark: SparkSession,
    broker: Broker,
    topic: Topics,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An upgrade is finished after a power loss in one query while others are in other steps."""
    pairs = _Pairs(draw, seed, count, spark, broker, topic, tmp_path)
    pairs.feed(0)
    pairs.run(pairs.before)
    before = pairs.records()
    owner, name, afterwards = pairs.dice.choice(_LOSSES)
    calls = pairs.dice.randint(1, count)
    with (
        suppress(LossOfPower),
        power_lost(monkeypatch, owner, name, afterwards=afterwards, calls=calls),
    ):
        pairs.upgrade()
    _finish(pairs, before)
    if draw is _random_aggregates:
        assert any(": extended: " in line for line in pairs.said), pairs.said


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(100, 105))
def test_random_upgrades_that_are_killed(
    seed: int, spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    """An upgrade is finished after `kill -9` while its queries are in different steps."""
    pairs = _Pairs(_random_pairs, seed, 10, spark, broker, topic, tmp_path)
    pairs.feed(0)
    pairs.run(pairs.before)
    before = pairs.records()
    script = write(tmp_path / "new.sql", pairs.after.script)
    for step in ("read", "compare", "write"):
        arguments = ["--checkpoint", str(pairs.checkpoint), "--set", "parallelism.default=2"]
        for setting in _DROP.items():
            arguments += ["--set", "=".join(setting)]
        killed = Cli.start("upgrade", script, *arguments, log=tmp_path / f"{step}.log")
        while killed.process.poll() is None and step not in _steps(pairs.checkpoint):
            time.sleep(0.01)
        time.sleep(pairs.dice.random())
        killed.kill()
    _finish(pairs, before)


def _steps(checkpoint: Path) -> set[str]:
    """Return the current steps of the queries of an upgrade."""
    try:
        queries = json.loads((checkpoint / "upgrade.json").read_text())["queries"]
    except FileNotFoundError:
        return set()
    return {query["step"] for query in queries.values()}


def _finish(pairs: _Pairs, before: _Records) -> None:
    """Finish an upgrade that may have been interrupted, check the topics, and continue the job."""
    if (pairs.checkpoint / "upgrade.json").exists():
        pairs.upgrade()
    pairs.check_written(before)
    pairs.check()
    pairs.feed(1)
    pairs.run(pairs.after)
    pairs.check()
