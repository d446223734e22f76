"""IN and EXISTS over changing tables equal Spark's batch answers after every micro-batch."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.differential.support import Query, Source, check

from streamtable.testing.histories import random_history

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_COLUMNS = "k INT, g INT, v INT"


def _any(condition: str) -> str:
    return f"SELECT k, v FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.k < 6 AND {condition})"


def _none(condition: str) -> str:
    return f"SELECT k, v FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE b.k < 6 AND {condition})"


_OF = "(SELECT v FROM b WHERE k < 6)"
#: Quantified comparisons, which Spark lacks.
QUANTIFIED = {
    "equal_any": Query((0,), f"SELECT k, v FROM a WHERE v = ANY {_OF}", _any("a.v = b.v")),
    "not_equal_any": Query(
        (0,), f"SELECT k, v FROM a WHERE NOT v = SOME {_OF}", _none("(a.v = b.v) IS NOT FALSE")
    ),
    "less_than_any": Query((0,), f"SELECT k, v FROM a WHERE v < ANY {_OF}", _any("a.v < b.v")),
    "not_less_than_any": Query(
        (0,), f"SELECT k, v FROM a WHERE NOT (v < ANY {_OF})", _none("(a.v < b.v) IS NOT FALSE")
    ),
    "different_from_all": Query(
        (0,), f"SELECT k, v FROM a WHERE v <> ALL {_OF}", _none("(a.v <> b.v) IS NOT TRUE")
    ),
    "at_least_all": Query(
        (0,), f"SELECT k, v FROM a WHERE v >= ALL {_OF}", _none("(a.v >= b.v) IS NOT TRUE")
    ),
    "not_at_least_all": Query(
        (0,), f"SELECT k, v FROM a WHERE NOT v >= ALL {_OF}", _any("(a.v >= b.v) IS FALSE")
    ),
    "correlated_all": Query(
        (0,),
        "SELECT k, v FROM a WHERE v > ALL (SELECT v FROM b WHERE b.g = a.g)",
        (
            "SELECT k, v FROM a WHERE NOT EXISTS"
            " (SELECT 1 FROM b WHERE b.g = a.g AND (a.v > b.v) IS NOT TRUE)"
        ),
    ),
}
#: Subqueries per group that do more than filter rows.
GROUPED = {
    "largest_of_its_group": Query(
        (0,), "SELECT k, v FROM a WHERE v IN (SELECT MAX(b.v) FROM b WHERE b.g = a.g)"
    ),
    "among_the_first_of_its_group": Query(
        (0,),
        "SELECT k, v FROM a WHERE v IN (SELECT b.v FROM b WHERE b.g = a.g ORDER BY b.v LIMIT 2)",
        (
            "SELECT k, v FROM a WHERE EXISTS (SELECT 1 FROM (SELECT g, v, ROW_NUMBER() OVER"
            " (PARTITION BY g ORDER BY v) AS n FROM b) AS r"
            " WHERE r.g = a.g AND r.v = a.v AND r.n <= 2)"
        ),
    ),
    "not_among_the_values_of_its_group": Query(
        (0,),
        "SELECT k, v FROM a WHERE v NOT IN (SELECT b.v FROM b WHERE b.g = a.g GROUP BY b.v)",
        "SELECT k, v FROM a WHERE v NOT IN (SELECT b.v FROM b WHERE b.g = a.g)",
    ),
    "no_value_twice_in_its_group": Query(
        (0,),
        (
            "SELECT k, v FROM a WHERE NOT EXISTS"
            " (SELECT b.v FROM b WHERE b.g = a.g GROUP BY b.v HAVING COUNT(*) > 1)"
        ),
        (
            "SELECT k, v FROM a WHERE a.g IS NULL OR a.g NOT IN (SELECT g FROM b"
            " WHERE g IS NOT NULL GROUP BY g, v HAVING COUNT(*) > 1)"
        ),
    ),
    "groups_found": Query(
        (0,),
        (
            "SELECT g, COUNT(*) FROM a WHERE g IS NOT NULL GROUP BY g"
            " HAVING SUM(v) > 3 AND COUNT(*) IN (SELECT v FROM b)"
        ),
    ),
    "limited_exists": Query(
        (0,),
        (
            "SELECT k, v FROM a WHERE EXISTS"
            " (SELECT 1 FROM b WHERE b.v > a.v ORDER BY b.k DESC LIMIT 1)"
        ),
        _any("b.v > a.v").replace("b.k < 6 AND ", ""),
    ),
}
QUERIES = {
    **QUANTIFIED,
    **GROUPED,
    "found": Query((0,), "SELECT k, v FROM a WHERE v <> 3 AND g IN (SELECT k FROM b)"),
    "found_in_groups": Query(
        (0,),
        "SELECT k, v FROM a WHERE g IN (SELECT g FROM b GROUP BY g HAVING COUNT(*) > 1)",
    ),
    "there_is": Query(
        (0,),
        (
            "SELECT k, v FROM a WHERE EXISTS"
            " (SELECT 1 FROM b WHERE b.g = a.g AND b.v < a.v AND b.v > 0)"
        ),
    ),
    "there_is_none": Query(
        (0,),
        "SELECT k, v FROM a WHERE NOT EXISTS (SELECT * FROM b WHERE a.g = b.g AND b.v < a.v)",
    ),
    "not_in_keys": Query((0,), "SELECT k, g FROM a WHERE k NOT IN (SELECT k FROM b WHERE v > 1)"),
    "there_is_any": Query(
        (0,),
        "SELECT k, v FROM a WHERE EXISTS (SELECT 1 FROM b WHERE v > 4 AND g < 2)",
    ),
    "there_is_none_less": Query(
        (0,),
        "SELECT k, v FROM a WHERE NOT EXISTS (SELECT * FROM b WHERE b.v < a.v AND b.k < 3)",
    ),
    "not_in_with_nulls": Query(
        (0,), "SELECT k, g FROM a WHERE g NOT IN (SELECT v FROM b WHERE k < 3)"
    ),
    "less_than_the_greatest": Query(
        (0,),
        "SELECT k, v - (SELECT MIN(v) FROM b) FROM a WHERE v < (SELECT MAX(g) FROM b)",
    ),
    "great_groups": Query(
        (0,),
        (
            "SELECT COALESCE(g, -1), COUNT(*), (SELECT MAX(v) FROM b) FROM a"
            " GROUP BY COALESCE(g, -1) HAVING SUM(v) > (SELECT AVG(v) FROM b)"
        ),
        (
            "SELECT COALESCE(g, -1), COUNT(*), (SELECT MAX(v) FROM b) FROM a"
            " GROUP BY COALESCE(g, -1) HAVING SUM(v) > (SELECT SUM(v) DIV COUNT(v) FROM b)"
        ),
    ),
    "filtered_twice": Query(
        (0,), "SELECT k, v FROM (SELECT * FROM a WHERE v > 1) AS x WHERE g < 5"
    ),
}


def _values(source: random.Random) -> dict[str, Any]:
    return {"g": source.choice([None, *range(6)]), "v": source.choice([None, *range(6)])}


@pytest.mark.parametrize(
    "seed", [41, *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(42, 49))]
)
def test_folded_output_equals_batch(seed: int, spark: SparkSession) -> None:
    sources = {
        "a": Source(_COLUMNS, random_history(seed, length=110, keys=14, make=_values)),
        "b": Source(_COLUMNS, random_history(seed + 1, length=110, keys=10, make=_values)),
    }
    assert check(spark, seed, sources, QUERIES) == 0
