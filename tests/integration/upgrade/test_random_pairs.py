"""Random pairs of queries over random histories: the topic of each equals Spark's batch answer."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.differential.on_kafka import COLUMNS, KafkaJob, histories
from tests.integration.differential.support import Query

from streamtable.core.errors import Condition, StreamtableError
from streamtable.plan.keys import unique_keys
from streamtable.runtime.upgrade.options import UpgradeOptions
from streamtable.runtime.upgrade.upgrade import upgrade_job
from streamtable.session import Session, fixed_settings
from streamtable.testing.jobs import BoundedRun
from streamtable.testing.planned import planned
from streamtable.testing.random_queries import Queries
from streamtable.testing.relations import Dialect, Group, Kind, Read, Relation, Sql
from streamtable.testing.replayed import Replayed, Style

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

_TABLES = {name: Replayed(Style.UPSERT, COLUMNS, ()) for name in "ab"}
#: A key of a sink is not NULL; other rows are dropped, also from the answers.
_DROP = {"table.exec.sink.not-null-enforcer": "DROP"}


def _random_pair(grammar: Queries) -> tuple[Query, Query]:
    """Two queries with the same columns as key of the sink: a reader of keys sees no others."""
    before = _random_query(grammar)
    while (after := _random_query(grammar)).key != before.key or after == before:
        pass
    return before, after


def _random_aggregates(grammar: Queries) -> tuple[Query, Query]:
    """Two queries that differ in their aggregates, in the order of these, and in HAVING."""
    while True:
        groups = (grammar.query() for _ in range(100))
        found = [group for group in groups if isinstance(group, Group) and group.keys]
        for one, other in pairwise(found):
            if one.input.kinds == other.input.kinds:
                before, after = _query(one), _query(_changed(grammar.dice, one, other))
                if before and after and before.key == after.key and before != after:
                    return before, after


def _changed(dice: random.Random, group: Group, other: Group) -> Group:
    """The group with some of its aggregates, and perhaps one more of another group."""
    first = len(group.keys)
    calls = list(zip(group.calls, group.kinds[first:], strict=True))
    chosen = dice.sample(calls, dice.randint(min(1, len(calls)), len(calls)))
    if other.calls and dice.random() < 0.3:
        chosen.append((other.calls[0], other.kinds[len(other.keys)]))
    kinds = (*group.kinds[:first], *(kind for _, kind in chosen))
    having = dice.choice([group.having, None, Sql.same("COUNT(*) > 1")]) if chosen else None
    return Group(kinds, group.input, group.keys, tuple(call for call, _ in chosen), having)


def _random_query(grammar: Queries) -> Query:
    """A query with a key for its sink."""
    while (query := _query(grammar.query())) is None:
        pass
    return query


def _query(relation: Relation) -> Query | None:
    """The query of a relation; None if it has no key for a sink, or cannot be rebuilt."""
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
    """Topics by their prefix, so that two jobs share them."""

    def __init__(self, topic: Topics) -> None:
        self._topic, self._made = topic, dict[str, str]()

    def __call__(
        self, prefix: str = "t", *, partitions: int = 1, config: dict[str, str] | None = None
    ) -> str:
        if prefix not in self._made:
            self._made[prefix] = self._topic(prefix, partitions=partitions, config=config)
        return self._made[prefix]


def _wrong(job: KafkaJob) -> Mapping[str, Any]:
    answers = {
        name: {row for row in rows if all(row[i] is not None for i in _places(job.queries[name]))}
        for name, rows in job.answers().items()
    }
    return job.wrong(answers)


def _places(query: Query) -> list[int]:
    """Where the columns of the key are among the columns sorted by name."""
    names = [c.field.name for c in planned(query.sql, _TABLES).columns]
    return [sorted(names).index(names[i]) for i in query.key]


@pytest.mark.parametrize(
    ("draw", "seed", "pairs"),
    [
        (_random_pair, 5, 2),
        (_random_aggregates, 3, 1),
        *(
            pytest.param(draw, seed, 10, marks=pytest.mark.soak)
            for draw in (_random_pair, _random_aggregates)
            for seed in range(100)
        ),
    ],
)
def test_random_pairs(
    draw: Callable[[Queries], tuple[Query, Query]],
    seed: int,
    pairs: int,
    spark: SparkSession,
    broker: Broker,
    topic: Topics,
    tmp_path: Path,
) -> None:
    dice = random.Random(seed)
    reads = [Read((Kind.NUMBER,) * 3, name, ("k", "g", "v")) for name in "ab"]
    grammar = Queries(dice, reads)
    drawn = [draw(grammar) for _ in range(pairs)]
    queries = [{f"q{i}": pair[side] for i, pair in enumerate(drawn)} for side in (0, 1)]
    same = _SameTopics(topic)
    before, after = (
        KafkaJob(spark, broker.bootstrap_servers, same, tmp_path, own) for own in queries
    )
    cut = histories(seed, cuts=2)
    for name in cut:
        before.feed(name, cut[name][0])
    _run(before)
    assert not _wrong(before), f"seed {seed}, before"

    after._done = before._done
    session = Session(settings=fixed_settings(_DROP))
    session.load(after.script, "new.sql")
    said: list[str] = []
    options = UpgradeOptions(str(tmp_path / "checkpoint"))
    settings = session.settings.current()
    upgrade_job(session.plans, settings, options, said.append, said.append, spark=spark)
    assert not _wrong(after), f"seed {seed}, upgraded: {said}"
    if draw is _random_aggregates:
        assert any(": extended: " in line for line in said), said

    for name in cut:
        after.feed(name, cut[name][1])
    _run(after)
    assert not _wrong(after), f"seed {seed}, continued: {said}"


def _run(job: KafkaJob) -> None:
    BoundedRun(job.spark, job.script, job.directory / "checkpoint")(_DROP)
