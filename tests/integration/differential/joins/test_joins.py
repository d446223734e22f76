"""Joins over changing tables equal Spark's batch joins after every micro-batch.

`a.g` refers to keys of `b`: rows move from one join key to another, have no match, or have a NULL
join key. `v` has few values, so that equal rows occur twice.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.differential.support import Query, Source, check

from streamtable.testing.histories import Change, random_history

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_COLUMNS = "k INT, g INT, v INT, n INT"


def _counted(join: str, x: str, y: str) -> Query:
    """Count equal rows of a join, so that the sink of any join has a key."""
    x, y = f"COALESCE({x}, -1)", f"COALESCE({y}, -1)"
    sql = f"SELECT {x} AS x, {y} AS y, COUNT(*) AS n FROM {join} GROUP BY {x}, {y}"
    return Query((0, 1), sql)


KEYED = {
    "inner_by_keys": Query((0,), "SELECT b.k, a.v, b.v FROM a JOIN b ON a.k = b.k"),
    "left_moving": Query((0,), "SELECT a.k, a.g, b.v FROM a LEFT JOIN b ON a.g = b.k"),
    "left_residual": Query(
        (0,),
        "SELECT a.k, a.g, b.v FROM a LEFT JOIN b ON a.g = b.k AND a.v < b.v AND b.v > 1",
    ),
    "both_keys": Query(
        (0, 1),
        "SELECT a.k, b.k, a.v FROM a, b WHERE a.g = b.g AND a.v > 0 AND a.v + b.v < 6",
    ),
    "unmatched": Query((0,), "SELECT a.k, a.v FROM a LEFT JOIN b ON a.k = b.k WHERE b.k IS NULL"),
    "three_ways": Query(
        (0,),
        (
            "SELECT x.k, x.v, y.v, b.v FROM a AS x JOIN a AS y ON x.g = y.k"
            " LEFT JOIN b ON y.g = b.k WHERE x.v <> 3"
        ),
    ),
    "upserts_filtered": Query(
        (0,),
        (
            "SELECT a.k, a.w, b.v FROM (SELECT k, 12 / v AS w FROM a WHERE v > 0) AS a"
            " LEFT JOIN (SELECT v, k FROM b WHERE v > 1 OR g = 2) AS b ON a.k = b.k"
        ),
        (
            "SELECT a.k, a.w, b.v FROM (SELECT k, 12 DIV v AS w FROM a WHERE v > 0) AS a"
            " LEFT JOIN (SELECT v, k FROM b WHERE v > 1 OR g = 2) AS b ON a.k = b.k"
        ),
    ),
    # Only deletes have no n, so their divisor is 0: the division must not run for them.
    "upserts_divided": Query(
        (0,),
        (
            "SELECT a.k, b.m FROM a JOIN (SELECT k, 72 / COALESCE(n, 0) AS m FROM b"
            " WHERE 72 / COALESCE(n, 0) > 10) AS b ON a.k = b.k"
        ),
        "SELECT a.k, 72 DIV b.n AS m FROM a JOIN b ON a.k = b.k WHERE 72 DIV b.n > 10",
    ),
    "pairs": Query(
        (0, 1),
        "SELECT a.k, b.k, a.v FROM a CROSS JOIN b WHERE a.v > 3 AND b.v > a.v",
    ),
    "using_key": Query((0,), "SELECT k, a.v, b.v FROM a RIGHT JOIN b USING (k)"),
}

COUNTED = {
    "inner_many": _counted("a JOIN b ON a.g = b.g", "a.v", "b.v"),
    "full_many": _counted("a FULL JOIN b ON a.g = b.g", "a.v", "b.v"),
    "full_residual": _counted("a FULL JOIN b ON a.g = b.g AND a.v < b.v", "a.v", "b.v"),
    "right_residual": _counted("a RIGHT JOIN b ON a.g = b.k AND a.v <> b.v", "a.v", "b.v"),
    "full_residual_by_keys": _counted("a FULL JOIN b ON a.k = b.k AND a.v < b.v", "a.v", "b.v"),
    "no_equality": _counted("a FULL JOIN b ON a.v < b.v AND b.k < 3", "a.v", "b.v"),
    "of_groups": _counted(
        (
            "(SELECT g, COUNT(*) AS n FROM a GROUP BY g) AS p"
            " FULL JOIN (SELECT g, MAX(v) AS n FROM b GROUP BY g) AS q ON p.g = q.g"
        ),
        "CAST(p.n AS INT)",
        "q.n",
    ),
}

#: Joins whose one side is a join in parentheses, which comes first.
NESTED = {
    "inner_in_left": Query(
        (0,),
        (
            "SELECT x.k, y.v, b.v FROM a AS x"
            " LEFT JOIN (a AS y JOIN b ON y.g = b.k AND b.v > 1) ON x.g = y.k"
        ),
    ),
    "left_in_full": _counted(
        "b FULL JOIN (a AS x LEFT JOIN a AS y ON x.g = y.k) ON b.g = x.g", "b.v", "y.v"
    ),
    "filtered": Query(
        (0, 1),
        (
            "SELECT a.k, x.k, q.n FROM a CROSS JOIN ((b AS x JOIN"
            " (SELECT g, COUNT(*) AS n FROM b GROUP BY g) AS q USING (g)))"
            " WHERE a.g = x.k AND q.n < 4 AND x.v < a.v"
        ),
    ),
    "from_query": _counted(
        "((SELECT k, g FROM a) AS p JOIN b ON p.g = b.k) RIGHT JOIN a ON a.k = p.k", "b.v", "a.v"
    ),
}


#: Joins of append-only input, whose rows stay in state.
ADDED = {
    "left_of_append": _counted("e LEFT JOIN b ON e.g = b.k", "e.v", "b.v"),
    "right_of_append": _counted("b LEFT JOIN e ON b.g = e.g AND e.v < 4", "b.v", "e.v"),
    "appends": _counted("e LEFT JOIN e AS f ON e.g = f.k", "e.v", "f.v"),
}


def _values(source: random.Random) -> dict[str, Any]:
    return {
        "g": source.choice([None, *range(8)]),
        "v": source.choice([None, *range(6)]),
        "n": source.randrange(1, 10),
    }


def _sources(seed: int) -> dict[str, Source]:
    dice = random.Random(seed)
    added = [Change(dice.randrange(12), _values(dice)) for _ in range(40)]
    return {
        "a": Source(_COLUMNS, random_history(seed, length=110, keys=14, make=_values)),
        "b": Source(_COLUMNS, random_history(seed + 1, length=110, keys=10, make=_values)),
        "e": Source(_COLUMNS, added, appends=True),
    }


@pytest.mark.parametrize(
    "seed", [22, *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(23, 30))]
)
@pytest.mark.parametrize(
    "queries",
    [KEYED, COUNTED, NESTED, ADDED],
    ids=["keyed", "counted", "nested", "added"],
)
def test_folded_output_equals_batch_and_deleted_rows_leave_no_state(
    seed: int, queries: dict[str, Query], spark: SparkSession
) -> None:
    entries = check(spark, seed, _sources(seed), queries)
    assert (entries > 0) == (queries is ADDED)


def test_a_join_key_with_more_rows_than_the_buffer(spark: SparkSession) -> None:
    """A side that is read once per call holds up to 1,000 rows (`ReadOnceSide`)."""
    dice = random.Random(50)
    added = [Change(k, {"g": 1, "v": dice.randrange(6)}) for k in range(1_300)]
    sources = {
        "e": Source(_COLUMNS, added, appends=True),
        "b": Source(_COLUMNS, random_history(51, length=12, keys=3, make=_values)),
    }
    queries = {
        "inner": _counted("e JOIN b ON e.g = b.k", "e.v", "b.v"),
        "outer": _counted("e FULL JOIN b ON e.g = b.k AND e.v <> b.v", "e.v", "b.v"),
    }
    assert check(spark, 52, sources, queries) > 0
