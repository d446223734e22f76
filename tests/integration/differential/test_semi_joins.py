"""IN and EXISTS over changing tables equal Spark's batch answers over the final tables."""

from __future__ import annotations

import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.differential.support import Differential, Query, Source

from streamtable.testing.histories import Change, random_history

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

_COLUMNS = "k INT, g INT, v INT"

QUERIES = {
    "found": Query(
        "k INT, v INT", "k", "SELECT k, v FROM a WHERE v <> 3 AND g IN (SELECT k FROM b)"
    ),
    "found_in_groups": Query(
        "k INT, v INT",
        "k",
        "SELECT k, v FROM a WHERE g IN (SELECT g FROM b GROUP BY g HAVING COUNT(*) > 1)",
    ),
    "there_is": Query(
        "k INT, v INT",
        "k",
        (
            "SELECT k, v FROM a WHERE EXISTS"
            " (SELECT 1 FROM b WHERE b.g = a.g AND b.v < a.v AND b.v > 0)"
        ),
    ),
    "there_is_none": Query(
        "k INT, v INT",
        "k",
        "SELECT k, v FROM a WHERE NOT EXISTS (SELECT * FROM b WHERE a.g = b.g AND b.v < a.v)",
    ),
    "not_in_keys": Query(
        "k INT, g INT", "k", "SELECT k, g FROM a WHERE k NOT IN (SELECT k FROM b WHERE v > 1)"
    ),
    "there_is_any": Query(
        "k INT, v INT",
        "k",
        "SELECT k, v FROM a WHERE EXISTS (SELECT 1 FROM b WHERE v > 4 AND g < 2)",
    ),
    "there_is_none_less": Query(
        "k INT, v INT",
        "k",
        "SELECT k, v FROM a WHERE NOT EXISTS (SELECT * FROM b WHERE b.v < a.v AND b.k < 3)",
    ),
    "not_in_with_nulls": Query(
        "k INT, g INT", "k", "SELECT k, g FROM a WHERE g NOT IN (SELECT v FROM b WHERE k < 3)"
    ),
    "less_than_the_greatest": Query(
        "k INT, v INT",
        "k",
        "SELECT k, v - (SELECT MIN(v) FROM b) FROM a WHERE v < (SELECT MAX(g) FROM b)",
    ),
    "great_groups": Query(
        "g INT, n BIGINT, m INT",
        "g",
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
        "k INT, v INT", "k", "SELECT k, v FROM (SELECT * FROM a WHERE v > 1) AS x WHERE g < 5"
    ),
}


def _values(source: random.Random) -> dict[str, Any]:
    return {"g": source.choice([None, *range(6)]), "v": source.choice([None, *range(6)])}


@pytest.mark.parametrize(
    "seed", [41, *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(42, 49))]
)
def test_folded_output_equals_batch(
    seed: int, spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    sources = {
        "a": Source(_COLUMNS, random_history(seed, length=110, keys=14, make=_values)),
        "b": Source(_COLUMNS, random_history(seed + 1, length=110, keys=10, make=_values)),
    }
    test = Differential(spark, broker, topic, tmp_path, sources, QUERIES, seed)
    test.check(cuts=2)
    assert test.state_rows()
    for name in sources:
        test.feed(name, [Change(key, None) for key in range(14)])
    test.run()
    test.compare({name: [] for name in sources}, "all deleted")
    assert not test.state_rows()
