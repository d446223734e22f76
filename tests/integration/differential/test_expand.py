"""UNNEST and grouping sets over changing tables equal Spark's batch answers."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.differential.support import Query, Source, check

from streamtable.testing.histories import random_history

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_NONE = "COALESCE(x, 'none') AS x, COALESCE(y, -1) AS y, COUNT(*) AS n"
_BY = "GROUP BY COALESCE(x, 'none'), COALESCE(y, -1)"


def _counted(flink: str, spark: str) -> Query:
    return Query(
        (0, 1),
        f"SELECT {_NONE} FROM ({flink}) {_BY}",
        f"SELECT {_NONE} FROM ({spark}) {_BY}",
    )


_SETS = "SELECT g AS x, CAST({grouping} AS INT) * 100 + v AS y FROM a GROUP BY {sets}"

# The sum counts all rows of its set, whatever the grouping makes of the column.
_GROUPS = (
    "SELECT {grouping}(g, w) * 10 + COALESCE(w, 9) AS place, COALESCE(g, 'none') AS g,"
    " COUNT(*) AS n, SUM(w) AS s FROM (SELECT g, v % 3 AS w FROM a WHERE g IS NOT NULL)"
    " GROUP BY CUBE (g, w)"
)
_CUBE = f"SELECT place, g, MAX(n), MAX(s) FROM ({_GROUPS.format(grouping='GROUPING_ID')})"
_CUBE += " GROUP BY place, g"
_CUBE_OF_SPARK = _CUBE.replace("MAX(s)", "CAST(MAX(s) AS INT)")

QUERIES = {
    "numbers": _counted(
        "SELECT a.g AS x, y FROM a CROSS JOIN UNNEST(ns) AS y WHERE a.v > 1",
        "SELECT a.g AS x, y FROM a LATERAL VIEW explode(ns) t AS y WHERE a.v > 1",
    ),
    "numbers_or_none": _counted(
        "SELECT a.g AS x, y * 10 + o AS y FROM a LEFT JOIN UNNEST(ns) WITH ORDINALITY AS u (y, o)"
        " ON TRUE",
        "SELECT a.g AS x, y * 10 + o + 1 AS y FROM a LATERAL VIEW OUTER posexplode(ns) t AS o, y",
    ),
    "greater_numbers": _counted(
        "SELECT a.g AS x, y FROM a LEFT JOIN UNNEST(ns) AS y ON y > a.v",
        "SELECT a.g AS x, y FROM a LATERAL VIEW OUTER explode(filter(ns, n -> n > v)) t AS y",
    ),
    "tags": _counted(
        "SELECT x, y FROM a JOIN b ON a.k = b.k, UNNEST(a.m) AS u (x, y) WHERE b.v <> u.y",
        "SELECT x, y FROM a JOIN b ON a.k = b.k LATERAL VIEW explode(a.m) t AS x, y WHERE b.v <> y",
    ),
    "sets": _counted(
        _SETS.format(grouping="GROUPING(g, v)", sets="GROUPING SETS ((g, v), g, ())"),
        _SETS.format(grouping="grouping_id(g, v)", sets="g, v GROUPING SETS ((g, v), (g), ())"),
    ),
    "cube": Query((0, 1), _CUBE, _CUBE_OF_SPARK),
}


def _values(source: random.Random) -> dict[str, Any]:
    return {
        "g": source.choice([None, "a", "b", "c"]),
        "v": source.choice([None, *range(6)]),
        "ns": source.choice([None, [], *([source.randrange(5) for _ in range(3)],) * 3]),
        "m": source.choice([None, {}, {"p": source.randrange(4), "q": source.randrange(4)}]),
    }


@pytest.mark.parametrize(
    "seed", [51, *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(52, 58))]
)
def test_folded_output_equals_batch(seed: int, spark: SparkSession) -> None:
    columns = "k INT, g STRING, v INT, ns ARRAY<INT>, m MAP<STRING,INT>"
    sources = {
        "a": Source(columns, random_history(seed, length=100, keys=12, make=_values)),
        "b": Source(columns, random_history(seed + 1, length=60, keys=12, make=_values)),
    }
    assert check(spark, seed, sources, QUERIES) == 0
