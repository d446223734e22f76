"""Groups and filters over a changing table equal Spark's batch answers."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.differential.support import Query, Source, check

from streamtable.core.changelog import ROW_KIND_COLUMN
from streamtable.jvm.bridge import Bridge
from streamtable.jvm.specs.aggregate import GroupAggregateOperator
from streamtable.jvm.specs.operator import Aggregation
from streamtable.testing.histories import random_history
from streamtable.testing.operator_harness import OperatorHarness

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession

_COLUMNS = "k INT, g STRING, v INT, d DECIMAL(10,2), n INT"

#: Numbers that include positive and negative zero.
_SIGNED = "(COALESCE(v, 0) % 3) * (CASE WHEN v < 5 THEN -1E0 ELSE 1E0 END)"

QUERIES = {
    "aggregates": Query(
        (0,),
        (
            "SELECT COALESCE(g, 'none'), COUNT(*), COUNT(v), SUM(v), AVG(v), MIN(v), MAX(v),"
            " COUNT(DISTINCT v), SUM(DISTINCT v) FROM t GROUP BY COALESCE(g, 'none')"
        ),
        (
            "SELECT COALESCE(g, 'none'), COUNT(*), COUNT(v), CAST(SUM(v) AS INT),"
            " CAST(SUM(v) DIV COUNT(v) AS INT), MIN(v), MAX(v), COUNT(DISTINCT v),"
            " CAST(SUM(DISTINCT v) AS INT) FROM t GROUP BY COALESCE(g, 'none')"
        ),
    ),
    "decimals": Query(
        (0,),
        (
            "SELECT COALESCE(g, 'none') AS g, SUM(d), AVG(d), COUNT(*) FILTER (WHERE v > 5)"
            " FROM t GROUP BY COALESCE(g, 'none')"
        ),
        (
            "SELECT COALESCE(g, 'none'), CAST(SUM(d) AS DECIMAL(38,2)),"
            " CAST(AVG(d) AS DECIMAL(38,6)), COUNT(*) FILTER (WHERE v > 5)"
            " FROM t GROUP BY COALESCE(g, 'none')"
        ),
    ),
    "months": Query(
        (0,),
        (
            "SELECT COALESCE(g, 'none'), MAX(INTERVAL '5' MONTH * v) = INTERVAL '50' MONTH,"
            " MIN(INTERVAL '5' MONTH * v) < INTERVAL '1' YEAR FROM t GROUP BY COALESCE(g, 'none')"
        ),
    ),
    "big_groups": Query(
        (0,),
        (
            "SELECT COALESCE(g, 'none'), COUNT(*) FROM t WHERE v > 2"
            " GROUP BY COALESCE(g, 'none') HAVING COUNT(*) > 2 AND MAX(v) < 9"
        ),
    ),
    "filtered": Query((0,), "SELECT k, v + 1, UPPER(g) FROM t WHERE v % 2 = 0"),
    "by_key": Query((0,), "SELECT k, v FROM t WHERE k < 10"),
    # Only deletes have no n, so their divisor is 0: the division must not run for them.
    "divided": Query(
        (0,),
        "SELECT k, m + 1 FROM (SELECT k, 72 / COALESCE(n, 0) AS m FROM t WHERE k < 20)",
        "SELECT k, 72 DIV n + 1 FROM t WHERE k < 20",
    ),
    "two_levels": Query(
        (0,),
        (
            "SELECT n, COUNT(*), MAX(hi) FROM"
            " (SELECT g, COUNT(*) AS n, MAX(v) AS hi FROM t GROUP BY g) GROUP BY n"
        ),
    ),
    "zeros": Query(
        (0,),
        f"SELECT {_SIGNED}, COUNT(*), SUM(v) FROM t GROUP BY {_SIGNED}",
        f"SELECT {_SIGNED}, COUNT(*), CAST(SUM(v) AS INT) FROM t GROUP BY {_SIGNED}",
    ),
    "distinct_zeros": Query((0, 1), f"SELECT DISTINCT {_SIGNED}, COALESCE(g, 'none') FROM t"),
    "distinct_values": Query((0,), "SELECT DISTINCT v FROM t WHERE v IS NOT NULL"),
}


def _values(source: random.Random) -> dict[str, Any]:
    return {
        "g": source.choice([None, "a", "b", "c", "d"]),
        "v": source.choice([None, *range(11)]),
        "d": None if source.random() < 0.2 else source.randrange(-99999, 99999) / 100,
        "n": source.randrange(1, 10),
    }


@pytest.mark.parametrize("phases", ["ONE_PHASE", "TWO_PHASE"])
@pytest.mark.parametrize(
    "seed", [11, *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(12, 32))]
)
def test_folded_output_equals_batch(seed: int, phases: str, spark: SparkSession) -> None:
    history = random_history(seed, length=300, keys=25, make=_values)
    sources = {"t": Source(_COLUMNS, history)}
    settings = {"table.optimizer.agg-phase-strategy": phases}
    assert check(spark, seed, sources, QUERIES, settings) == 0


#: Groups of the rows of one task: few, many, more than a task holds at once, or one per row.
_LARGE = {"few": "id % 10", "many": "id % 70000", "too_many": "id % 150000", "once": "id"}


@pytest.mark.parametrize("groups", _LARGE.values(), ids=_LARGE)
def test_local_aggregation_gives_the_same_rows(groups: str, spark: SparkSession) -> None:
    # Lets operators with state run over batch DataFrames.
    OperatorHarness(spark)
    rows = spark.sql(
        f"SELECT CAST(IF(id % 5 = 4, 3, 0) AS TINYINT) AS {ROW_KIND_COLUMN}, {groups} AS g,"
        " id % 7 AS v FROM RANGE(0, 220000, 1, 1)"
    )
    calls = [
        Aggregation("COUNT", -1, -1, distinct=False, argument_type="BOOLEAN", result_type="BIGINT"),
        Aggregation("SUM", 2, -1, distinct=False, argument_type="BIGINT", result_type="BIGINT"),
    ]

    def summed(*, fold: bool) -> set[Row]:
        changes = Bridge(spark).operator(
            rows,
            GroupAggregateOperator(
                keys=["g"],
                calls=calls,
                retracting=True,
                unknown=False,
                before=False,
                bitmaps=False,
                fold=fold,
                order=[],
                ttl=0,
                output_ddl=f"{ROW_KIND_COLUMN} TINYINT, g BIGINT, n BIGINT, v BIGINT",
            ),
        )
        return set(changes.collect())

    found = summed(fold=True)
    assert len(found) == rows.select("g").distinct().count()
    assert found == summed(fold=False)
