"""Correlated and LATERAL subqueries equal Spark's batch answers after every micro-batch."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.differential.support import Query, Source, check

from streamtable.testing.histories import random_history

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_COLUMNS = "k INT, g INT, v INT"

QUERIES = {
    "greatest": Query((0,), "SELECT k, (SELECT MAX(v) FROM b WHERE b.g = a.g) FROM a"),
    "counted": Query(
        (0,),
        "SELECT k, a.v + (SELECT COUNT(*) + 1 FROM b WHERE b.g = a.g AND v > 2) FROM a",
    ),
    "compared": Query(
        (0,),
        "SELECT k, v FROM a WHERE v < (SELECT COALESCE(MAX(v), 3) FROM b WHERE a.g = b.g)",
    ),
    "of_key": Query(
        (0,),
        "SELECT k, (SELECT v FROM b WHERE b.k = a.g AND b.v > 1) FROM a",
        "SELECT a.k, b.v FROM a LEFT JOIN b ON b.k = a.g AND b.v > 1",
    ),
    "lateral_rows": Query(
        (0, 1),
        (
            "SELECT a.k, x.l, x.v FROM a,"
            " LATERAL (SELECT k AS l, v FROM b WHERE b.g = a.g AND v > 1) AS x"
        ),
    ),
    "lateral_count": Query(
        (0,),
        (
            "SELECT a.k, x.n FROM a LEFT JOIN"
            " LATERAL (SELECT COUNT(*) AS n FROM b WHERE b.g = a.g) AS x ON TRUE"
        ),
    ),
    "lateral_groups": Query(
        (0, 1),
        (
            "SELECT a.k, x.w, x.n FROM a, LATERAL (SELECT COALESCE(v, -1) AS w, COUNT(*) AS n"
            " FROM b WHERE b.g = a.g GROUP BY COALESCE(v, -1)) AS x WHERE x.n < 4"
        ),
    ),
    "lateral_first": Query(
        (0, 1),
        (
            "SELECT a.k, x.l, x.w FROM a, LATERAL (SELECT k AS l, v + 1 AS w FROM b"
            " WHERE b.g = a.g AND v > 0 ORDER BY w DESC, k LIMIT 2) AS x"
        ),
        (
            "SELECT a.k, x.l, x.w FROM a JOIN (SELECT k AS l, v + 1 AS w, g,"
            " ROW_NUMBER() OVER (PARTITION BY g ORDER BY v DESC, k) AS r FROM b WHERE v > 0) AS x"
            " ON x.g = a.g AND x.r <= 2"
        ),
    ),
    "first_value": Query(
        (0,),
        "SELECT k, (SELECT v FROM b WHERE b.g = a.g ORDER BY v LIMIT 1) FROM a",
        (
            "SELECT a.k, x.v FROM a LEFT JOIN (SELECT v, g,"
            " ROW_NUMBER() OVER (PARTITION BY g ORDER BY v) AS r FROM b) AS x"
            " ON x.g = a.g AND x.r = 1"
        ),
    ),
    "groups": Query(
        (0,),
        (
            "SELECT COALESCE(g, -1) AS h, COUNT(*), GROUPING(COALESCE(g, -1)) FROM a"
            " GROUP BY COALESCE(g, -1)"
        ),
        "SELECT COALESCE(g, -1) AS h, COUNT(*), 0L FROM a GROUP BY COALESCE(g, -1)",
    ),
}


def _values(source: random.Random) -> dict[str, Any]:
    return {"g": source.choice([None, *range(6)]), "v": source.choice([None, *range(6)])}


@pytest.mark.parametrize(
    "seed", [51, *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(52, 57))]
)
def test_folded_output_equals_batch(seed: int, spark: SparkSession) -> None:
    sources = {
        "a": Source(_COLUMNS, random_history(seed, length=90, keys=14, make=_values)),
        "b": Source(_COLUMNS, random_history(seed + 1, length=90, keys=10, make=_values)),
    }
    assert check(spark, seed, sources, QUERIES) == 0
