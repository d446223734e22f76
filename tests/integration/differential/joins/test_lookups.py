"""Lookup joins of rows that are updated and deleted equal Spark's batch joins."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.differential.support import Query, Source, check

from streamtable.testing.histories import random_history

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_VIEWS = """
WITH one (n, name) AS (SELECT * FROM (VALUES (0, 'a'), (1, 'b'), (2, 'c'), (7, 'd')) AS o (n, m)),
  more (n, name) AS (SELECT * FROM (VALUES (0, 'a'), (1, 'b'), (1, 'c'), (2, 'b'),
    (CAST(NULL AS INT), 'e')) AS m (n, m)),
  x AS (SELECT *, PROCTIME() AS p FROM {rows})
"""


def _lookup(key: tuple[int, ...], items: str, join: str, rows: str = "a", rest: str = "") -> Query:
    """Return a lookup join with the alias `d`; `join` is its kind, its view and its condition."""
    which, condition = join.split(" ON ")
    flink = f"{which} FOR SYSTEM_TIME AS OF x.p AS d ON {condition}"
    views = _VIEWS.format(rows=rows)
    return Query(
        key,
        f"{views} SELECT {items} FROM x {flink} {rest}",
        f"{views.replace('PROCTIME()', '0')} SELECT {items} FROM x {which} AS d"
        f" ON {condition.replace(' / ', ' DIV ')} {rest}",
    )


_OVER_3 = "(SELECT * FROM a WHERE v > 1)"
QUERIES = {
    "one_or_none": _lookup((0,), "k, d.name", "LEFT JOIN one ON x.g = d.n"),
    "one_or_no_row": _lookup((0,), "k, d.name, v", "JOIN one ON x.g = d.n AND x.v < d.n + 3"),
    "filtered_before": _lookup((0,), "k, d.name", "LEFT JOIN one ON x.g = d.n", _OVER_3),
    "filtered_twice": _lookup((0,), "k, d.name", "JOIN one ON x.g = d.n", _OVER_3),
    "filtered_behind": _lookup(
        (0,), "k, d.name", "LEFT JOIN one ON x.g = d.n", rest="WHERE d.name > 'a' OR x.v = 1"
    ),
    "decided_by_the_key": _lookup((0,), "k, d.name, v", "JOIN one ON x.k = d.n"),
    # Only deletes have no n, so their divisor is 0: the division must not run for them.
    "divided": _lookup(
        (0,), "k, d.name", "LEFT JOIN one ON x.k = d.n AND 7 / COALESCE(x.n, 0) > 2"
    ),
    "several": _lookup((0, 1), "k, COALESCE(d.name, '-'), v", "LEFT JOIN more ON x.g = d.n"),
    "several_of_a_key": _lookup((0, 1), "k, d.name, v", "JOIN more ON x.k = d.n AND x.v <> d.n"),
    "of_groups": _lookup(
        (0,),
        "x.g, d.name, x.c",
        "LEFT JOIN one ON x.c = d.n",
        "(SELECT COALESCE(g, -1) AS g, COUNT(*) AS c FROM a GROUP BY COALESCE(g, -1))",
    ),
    "grouped": _lookup(
        (0,),
        "COALESCE(d.name, '-'), COUNT(*), SUM(x.v)",
        "LEFT JOIN more ON x.g >= d.n",
        rest="GROUP BY COALESCE(d.name, '-')",
    ),
    "joined": _lookup(
        (0,), "x.k, d.name, b.v", "JOIN one ON x.g = d.n", rest="LEFT JOIN b ON b.k = x.k"
    ),
    "ranked": Query(
        (0,),
        "SELECT name, k FROM (SELECT k, name, ROW_NUMBER() OVER (PARTITION BY name ORDER BY v DESC,"
        f" k) AS rn FROM ({_VIEWS.format(rows='a')} SELECT x.k, x.v, d.name FROM x JOIN one"
        " FOR SYSTEM_TIME AS OF x.p AS d ON x.g = d.n) AS y) AS z WHERE rn = 1",
        "SELECT name, k FROM (SELECT k, name, ROW_NUMBER() OVER (PARTITION BY name ORDER BY v DESC"
        f" NULLS LAST, k) AS rn FROM ({_VIEWS.format(rows='a').replace('PROCTIME()', '0')} SELECT"
        " x.k, x.v, d.name FROM x JOIN one AS d ON x.g = d.n) AS y) AS z WHERE rn = 1",
    ),
}


def _values(source: random.Random) -> dict[str, Any]:
    return {
        "g": source.choice([None, *range(4)]),
        "v": source.choice([None, *range(6)]),
        "n": source.randrange(1, 10),
    }


_SEEDS = [61, *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(62, 69))]
_COLUMNS = "k INT, g INT, v INT, n INT"


@pytest.mark.parametrize("seed", _SEEDS)
def test_folded_output_equals_batch(seed: int, spark: SparkSession) -> None:
    sources = {
        "a": Source(_COLUMNS, random_history(seed, length=110, keys=14, make=_values)),
        "b": Source(_COLUMNS, random_history(seed + 1, length=60, keys=10, make=_values)),
    }
    assert check(spark, seed, sources, QUERIES) == 0


@pytest.mark.parametrize("seed", _SEEDS)
def test_each_match_is_deleted_and_inserted(seed: int, spark: SparkSession) -> None:
    """Without a materializer, the row kinds of the join itself reach the sink."""
    history = random_history(seed, length=110, keys=14, make=_values)
    queries = {name: QUERIES[name] for name in ("several", "several_of_a_key")}
    settings = {"table.exec.sink.upsert-materialize": "NONE"}
    assert check(spark, seed, {"a": Source(_COLUMNS, history)}, queries, settings) == 0
