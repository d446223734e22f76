"""Differential tests: random queries over random histories, compared with the batch result.

`universe(seed)` generates tables and queries, and `check` runs them. A failing query is shrunk to
fewer parts and fewer changes, and reported as a script with its data.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession

from streamtable.core.errors import Condition, StreamtableError
from streamtable.plan.keys import unique_keys
from streamtable.testing.cases import Case, Difference
from streamtable.testing.histories import Change, Values, pieces, random_cuts, random_history
from streamtable.testing.planned import planned, sink
from streamtable.testing.random_queries import CALLS, Queries
from streamtable.testing.relations import Dialect, Group, Kind, Read, Relation, parts, simpler
from streamtable.testing.replay import Replay
from streamtable.testing.replayed import Replayed, Style
from streamtable.testing.timed_queries import Timed, TimedQueries, timed_table

_COLUMNS = "k INT, g STRING, v INT"
_KINDS = (Kind.NUMBER, Kind.TEXT, Kind.NUMBER)
_SHRINKS = 40


@dataclass(frozen=True)
class Universe:
    """Tables with histories, and queries over them.

    Attributes:
        refused: reasons why queries of the grammar were omitted, with their counts.
    """

    seed: int
    tables: Mapping[str, Replayed]
    queries: Sequence[Relation]
    settings: Mapping[str, str]
    refused: Counter[str] = field(default_factory=Counter)


def universe(
    seed: int, queries: int, changes: int = 60, batches: int = 3, *, timed: bool = False
) -> Universe:
    """Generate three tables, one of each style, and a number of queries that can be planned.

    Args:
        seed: the same seed gives the same tables and queries.
        queries: the number of queries.
        changes: the number of changes of each table.
        batches: the number of batches of these changes.
        timed: whether to add two tables with event time, and queries over them.
    """
    dice = random.Random(seed)  # noqa: S311 - reproducible on purpose
    tables = {
        name: _table(dice, style, changes, batches)
        for name, style in (("a", Style.UPSERT), ("b", Style.CHANGES), ("e", Style.APPEND))
    }
    reads = [Read(_KINDS, name, ("k", "g", "v")) for name in tables]
    grammar = Queries(dice, reads)
    if timed:
        tables |= {name: timed_table(dice, changes, batches, _values) for name in ("w", "x")}
        windows = TimedQueries(dice, ("w", "x"), CALLS)
        grammar = replace(grammar, timed=windows.query)
    settings = {
        "table.local-time-zone": "UTC",
        "table.optimizer.agg-phase-strategy": dice.choice(["ONE_PHASE", "TWO_PHASE"]),
        "table.exec.distinct-bitmaps.enabled": dice.choice(["true", "false"]),
        # State with a TTL has another layout; this TTL is longer than any run.
        "table.exec.state.ttl": dice.choice(["0 s", "10 d"]),
    }
    found: list[Relation] = []
    refused: Counter[str] = Counter()
    while len(found) < queries:
        query = grammar.query()
        try:
            case(query, tables, random.Random(seed))  # noqa: S311
            found.append(query)
        except StreamtableError as error:
            if error.condition is not Condition.NOT_YET:
                raise
            refused[str(error.values["what"])] += 1
    return Universe(seed, tables, found, settings, refused)


def check(
    spark: SparkSession, given: Universe, *, in_memory: bool = False, reached: bool = False
) -> list[str]:
    """Run all queries at once; report each failing query, shrunk as far as possible.

    Args:
        spark: any session.
        given: tables and queries.
        in_memory: whether operators run in the test harness, without a streaming query; this is ten
            times as fast.
        reached: see `Replay`.
    """
    replay = Replay(spark, given.tables, given.settings, in_memory=in_memory, reached=reached)
    cases = [case_of(given, i) for i in range(len(given.queries))]
    try:
        wrong: list[tuple[int, Test]] = [(d.case, _differs) for d in replay.differences(cases)]
    except StreamingQueryException:
        wrong = [(i, _fails) for i, one in enumerate(cases) if _fails(replay, one) is not None]
    return [_report(replay, given, i, test) for i, test in wrong]


def case(query: Relation, tables: Mapping[str, Replayed], dice: random.Random) -> Case:
    """Return a query with a sink that keeps its rows: by one of its keys, or as a full changelog.

    Raises:
        StreamtableError: the query cannot be planned.
    """
    text = query.sql(Dialect.FLINK)
    relation = planned(text, tables)
    fields = [column.field for column in relation.columns]
    positions = {f.name: i for i, f in enumerate(fields)}
    keys = [key for key in unique_keys(relation.node) if key and set(key) <= set(positions)]
    key = tuple(positions[name] for name in dice.choice(keys)) if keys else None
    if dice.random() < 0.4:
        key = None
    loose = len(fields) > 1 and Kind.HEAP not in query.kinds and dice.random() < 0.15
    if loose:
        key = (dice.randrange(len(fields)),)
    everything = isinstance(query, Group) and not query.keys
    heaps = tuple(i for i, kind in enumerate(query.kinds) if kind is Kind.HEAP)
    spark_sql = query.sql(Dialect.SPARK)
    return Case(
        sink(fields, key),
        text,
        spark_sql,
        key,
        starts_empty=everything,
        heaps=heaps,
        one_of_each=loose,
        at_end=any(isinstance(part, Timed) for part in parts(query)),
    )


def _table(dice: random.Random, style: Style, changes: int, batches: int) -> Replayed:
    keys = dice.choice([3, 10, 25])
    history = random_history(dice.randrange(10**9), changes, keys, _values)
    if style is Style.APPEND:
        history = [c if c.values else Change(c.key, _values(dice)) for c in history]
    if style is not Style.APPEND and dice.random() < 0.3:
        # At the end, every row is deleted.
        history[-keys:] = [Change(key, None) for key in range(keys)]
    cuts = random_cuts(dice.randrange(10**9), len(history), batches)
    return Replayed(style, _COLUMNS, pieces(history, cuts))


def _values(dice: random.Random) -> Values:
    return {"g": dice.choice([None, "a", "b", "c"]), "v": dice.choice([None, *range(6)])}


def case_of(given: Universe, number: int) -> Case:
    """Return a query of a universe with a sink; the same each time."""
    dice = random.Random(f"{given.seed}/{number}")  # noqa: S311
    return case(given.queries[number], given.tables, dice)


#: Tests one case; returns the error as text, or None.
Test = Callable[[Replay, Case], str | None]


def _differs(replay: Replay, one: Case) -> str | None:
    for found in replay.differences([one]):
        return _words(found)
    return None


def _fails(replay: Replay, one: Case) -> str | None:
    try:
        return _differs(replay, one)
    except StreamingQueryException as error:
        return str(error).split("JVM stacktrace")[0][:2000]


def _words(found: Difference) -> str:
    return f"after batch {found.batch}:\n  found    {found.found}\n  expected {found.expected}"


def _report(replay: Replay, given: Universe, number: int, test: Test) -> str:
    """Return the smallest script and data that still fail, within a number of attempts."""
    one = case_of(given, number)
    keyed = one.key is not None
    words = test(replay, one)
    if words is None:
        return f"seed {given.seed}, query {number}: wrong, but not by itself\n{one.flink}"
    query, tables = given.queries[number], given.tables
    candidates = _smaller(query, tables)
    for _ in range(_SHRINKS):
        found = next(candidates, None)
        if found is None:
            break
        less = _sink_case(*found, keyed=keyed)
        still = test(replace(replay, tables=found[1]), less) if less else None
        if less is not None and still is not None:
            (query, tables), one, words = found, less, still
            candidates = _smaller(query, tables)
    return f"seed {given.seed}, query {number}, {words}\n{_script(one, tables, given.settings)}"


def _script(one: Case, tables: Mapping[str, Replayed], settings: Mapping[str, str]) -> str:
    """Return a case with its data as a script, to be run by hand."""
    lines = [f"SET '{key}' = '{value}';" for key, value in settings.items()]
    lines += [one.script(tables), f"-- in Spark: {one.spark}"]
    for name, table in tables.items():
        for i, batch in enumerate(table.batches):
            if batch:
                lines.append(f"-- {name}, batch {i}: {[(c.key, c.values) for c in batch]}")
    return "\n".join(lines)


def _sink_case(query: Relation, tables: Mapping[str, Replayed], *, keyed: bool) -> Case | None:
    """Return the query with a sink of the same kind; None if that is not possible."""
    for attempt in range(8):
        try:
            one = case(query, tables, random.Random(attempt))  # noqa: S311
        except StreamtableError:
            return None
        if (one.key is not None) == keyed:
            return one
    return None


def _smaller(
    query: Relation, tables: Mapping[str, Replayed]
) -> Iterator[tuple[Relation, Mapping[str, Replayed]]]:
    for less in simpler(query):
        yield less, tables
    for name, table in tables.items():
        for batches in _fewer(table.batches):
            yield query, {**tables, name: replace(table, batches=batches)}


def _fewer(batches: Sequence[Sequence[Change]]) -> Iterator[Sequence[Sequence[Change]]]:
    """Yield the batches without a half or the whole of one batch."""
    for i, batch in enumerate(batches):
        half = len(batch) // 2
        kept = [()] if len(batch) <= 1 else [(), batch[:half], batch[half:]]
        if batch:
            for part in kept:
                yield [*batches[:i], part, *batches[i + 1 :]]
