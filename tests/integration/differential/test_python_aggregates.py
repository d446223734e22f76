"""Python aggregate functions emit the same changes as the built-in functions, batch by batch."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from streamtable.runtime.session.user_functions import register
from streamtable.session import Session
from streamtable.testing.cases import Case
from streamtable.testing.differential import universe
from streamtable.testing.planned import planned, sink
from streamtable.testing.replay import Replay
from streamtable.testing.timed_queries import timed_table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from streamtable.testing.replayed import Recorded, Replayed

OWN = {"SUM": "total", "COUNT": "number", "MAX": "largest"}
CREATED = "".join(
    f"CREATE FUNCTION {name} AS 'tests.integration.differential.own_aggregates:{name}'"
    " LANGUAGE PYTHON;\n"
    for name in OWN.values()
)
_COUNTED = "(SELECT COUNT(*) AS n, SUM(v) AS v, MAX(k) AS k FROM {t} GROUP BY g)"
CALLS = "SUM(v), COUNT(v), MAX(v), COUNT(DISTINCT v), SUM(DISTINCT v) FILTER (WHERE k > 3)"
#: Queries over a table {t}.
QUERIES = (
    f"SELECT g, {CALLS} FROM {{t}} GROUP BY g",
    f"SELECT {CALLS}, COUNT(*) FROM {{t}}",
    f"SELECT n, {CALLS} FROM {_COUNTED} AS x GROUP BY n",
    "SELECT x.g, SUM(y.v) FROM {t} AS x JOIN b AS y ON x.k = y.k GROUP BY x.g HAVING MAX(x.v) > 1",
    "SELECT g, MAX(v), SUM(v) FROM {t} GROUP BY ROLLUP (g)",
)
WINDOWS = (
    "TUMBLE(TABLE w, DESCRIPTOR(ts), INTERVAL '10' SECOND)",
    "HOP(TABLE w, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '20' SECOND)",
    "SESSION(TABLE w PARTITION BY g, DESCRIPTOR(ts), INTERVAL '5' SECOND)",
)


@dataclass(frozen=True)
class Calling(Case):
    """A case whose script creates the functions."""

    def script(self, tables: Mapping[str, Replayed | Recorded]) -> str:
        return CREATED + super().script(tables)


def _cases(queries: list[str], tables: Mapping[str, Any]) -> list[Case]:
    """Return the queries, then the same queries with Python functions; sinks take all changes."""
    sinks = [sink([c.field for c in planned(query, tables).columns]) for query in queries]
    texts = [*queries, *map(_own, queries)]
    return [Calling(sinks[i % len(sinks)], text, text) for i, text in enumerate(texts)]


def _own(query: str) -> str:
    for name, own in OWN.items():
        query = query.replace(f"{name}(", f"{own}(")
    return query.replace("number(*)", "COUNT(*)")


def _changes(cases: list[Case], tables: Mapping[str, Any], spark: SparkSession) -> list[Any]:
    session = Session()
    session.load(CREATED, "functions.sql")
    register(session.catalog.functions.made, [], spark)
    settings = {"table.local-time-zone": "UTC"}
    found = Replay(spark, tables, settings, in_memory=True).changes(cases)
    return [
        [Counter((kind, repr(row)) for kind, row in batch) for batch in batches]
        for batches in found
    ]


@pytest.mark.parametrize(
    "seed", [3, *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(100, 110))]
)
def test_changes_of_groups(seed: int, spark: SparkSession) -> None:
    tables = universe(seed, 0, changes=50, batches=4).tables
    queries = [query.format(t=t) for t in tables for query in QUERIES]
    changes = _changes(_cases(queries, tables), tables, spark)
    half = len(queries)
    for query, built_in, own in zip(queries, changes[:half], changes[half:], strict=True):
        assert sum(map(len, built_in)), f"nothing to compare: {query}"
        assert own == built_in, query


def test_changes_of_windows(spark: SparkSession) -> None:
    def values(dice: random.Random) -> dict[str, Any]:
        return {"g": dice.choice([None, "a", "b"]), "v": dice.choice([None, *range(6)])}

    tables = {"w": timed_table(random.Random(5), 60, 4, values)}
    queries = [
        f"SELECT window_start, window_end, g, {CALLS} FROM TABLE({window})"
        " GROUP BY window_start, window_end, g"
        for window in WINDOWS
    ]
    changes = _changes(_cases(queries, tables), tables, spark)
    for i, query in enumerate(queries):
        assert sum(map(len, changes[i])) > 1, f"nothing to compare: {query}"
        assert changes[i + len(queries)] == changes[i], query
