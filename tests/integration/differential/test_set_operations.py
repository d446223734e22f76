"""UNION, INTERSECT and EXCEPT of changing tables equal Spark's batch answers."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.differential.support import Query, Source, check

from streamtable.testing.histories import random_history

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_COLUMNS = "k INT, g INT, v INT"


def _query(operation: str) -> Query:
    """Counts what an operation gives by its second column, NULLs and all, to have a key."""
    both = f"SELECT g, v FROM a {operation} SELECT g, k FROM b"
    counted = "SELECT COALESCE(v, -1) AS v, COUNT(*) AS n, COUNT(g) AS m"
    sql = f"{counted} FROM ({both}) AS x GROUP BY COALESCE(v, -1)"
    return Query((0,), sql)


QUERIES = {
    "whole": _query("UNION"),
    "shared": _query("INTERSECT"),
    "left_over": _query("EXCEPT"),
    "keys": Query((0,), "SELECT k FROM a EXCEPT SELECT k FROM b WHERE v > 2"),
}


def _values(source: random.Random) -> dict[str, Any]:
    return {"g": source.choice([None, 1, 2]), "v": source.choice([None, *range(5)])}


@pytest.mark.parametrize(
    "seed", [61, *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(62, 69))]
)
def test_folded_output_equals_batch(seed: int, spark: SparkSession) -> None:
    sources = {
        "a": Source(_COLUMNS, random_history(seed, length=120, keys=16, make=_values)),
        "b": Source(_COLUMNS, random_history(seed + 1, length=120, keys=8, make=_values)),
    }
    assert check(spark, seed, sources, QUERIES) == 0
