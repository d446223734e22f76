"""Top-N queries over changing tables equal the batch answers of ROW_NUMBER and LIMIT."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.differential.support import Query, Source, check

from streamtable.core.changelog import ROW_KIND_COLUMN
from streamtable.jvm.bridge import Bridge
from streamtable.jvm.specs.operator import SortColumn
from streamtable.jvm.specs.rank import TopNOperator
from streamtable.testing.histories import Change, random_history
from streamtable.testing.operator_harness import OperatorHarness

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession

_COLUMNS = "k INT, g INT, v INT"


def _numbered(table: str, order: str) -> str:
    return (
        "SELECT k, COALESCE(g, -1) AS g, v,"
        f" ROW_NUMBER() OVER (PARTITION BY COALESCE(g, -1) ORDER BY {order}) AS rn FROM {table}"
    )


def _first(table: str, order: str, condition: str, columns: str = "g, rn, v") -> str:
    return f"SELECT {columns} FROM ({_numbered(table, order)}) AS x WHERE {condition}"


QUERIES = {
    # The order of tied rows is undefined here, but the selected columns are the same.
    "ranked": Query((0, 1), _first("a", "v DESC", "rn <= 3 AND v <> 2")),
    "unranked": Query((0,), _first("a", "v NULLS LAST, k", "rn < 3", "k, g, v")),
    "unread_rank": Query(
        (0,),
        f"SELECT k, v FROM ({_first('a', 'v NULLS LAST, k', 'rn < 3', 'k, rn, v')}) AS y",
    ),
    "one": Query((0,), _first("a", "v, k DESC", "1 = rn", "g, k, v")),
    "second": Query((0, 1), _first("a", "v DESC NULLS FIRST", "rn = 2")),
    "by_months": Query((0, 1), _first("a", "INTERVAL '5' MONTH * v DESC", "rn <= 2")),
    "derived": Query(
        (0, 1),
        "SELECT g, place, v FROM (SELECT *, rn AS place FROM"
        f" ({_numbered('a', 'v DESC')}) AS y) AS z WHERE rn <= 3",
    ),
    "beside_a_join": Query(
        (0,),
        f"SELECT y.k, y.v FROM ({_numbered('a', 'v DESC, k')}) AS y JOIN a ON y.k = a.k"
        " WHERE rn <= 3",
    ),
    "in_a_join": Query(
        (0,),
        f"SELECT a.k, y.v FROM a LEFT JOIN ({_numbered('a', 'v, k DESC')}) AS y"
        " ON y.k = a.k AND y.rn = 1",
    ),
    "beside_a_subquery": Query(
        (0,),
        f"SELECT k, v FROM ({_numbered('a', 'v DESC, k')}) AS y WHERE rn BETWEEN 1 AND 2"
        " AND k IN (SELECT k FROM a WHERE v > 2)",
    ),
    "of_append": Query((0, 1), _first("e", "v", "rn <= 2")),
    "one_of_append": Query((0,), _first("e", "v, k", "rn = 1", "g, k, v")),
    "limited": Query((0,), "SELECT k, v FROM a ORDER BY v DESC, k LIMIT 5 OFFSET 1"),
    "of_groups": Query(
        (0,),
        (
            "SELECT rn, n FROM (SELECT n, ROW_NUMBER() OVER (ORDER BY n DESC) AS rn FROM"
            " (SELECT g, COUNT(*) AS n FROM a GROUP BY g) AS x) AS y WHERE rn <= 3"
        ),
    ),
}


def _values(source: random.Random) -> dict[str, Any]:
    return {"g": source.choice([None, 1, 2, 3]), "v": source.choice([None, *range(6)])}


@pytest.mark.parametrize(
    "seed", [51, *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(52, 59))]
)
def test_folded_output_equals_batch(seed: int, spark: SparkSession) -> None:
    dice = random.Random(seed)
    added = [Change(dice.randrange(12), _values(dice)) for _ in range(60)]
    sources = {
        "a": Source(_COLUMNS, random_history(seed, length=160, keys=24, make=_values)),
        "e": Source(_COLUMNS, added, appends=True),
    }
    assert check(spark, seed, sources, QUERIES) == 8, (
        "of what is only added, an entry per partition"
    )


#: Partitions of the rows of one task, which cannot hold all rows at once: three rows per partition,
#: far apart or adjacent, or one row per partition.
_LARGE = {"far_apart": "id % 73333", "in_a_row": "id div 3", "once": "id"}


@pytest.mark.parametrize("limit", [pytest.param(1, marks=pytest.mark.soak), 2])
@pytest.mark.parametrize("groups", _LARGE.values(), ids=_LARGE)
def test_local_top_n_gives_the_same_rows(groups: str, limit: int, spark: SparkSession) -> None:
    # Lets operators with state run over batch DataFrames.
    OperatorHarness(spark)
    kind = f"CAST(0 AS TINYINT) AS {ROW_KIND_COLUMN}"
    rows = spark.sql(f"SELECT {kind}, {groups} AS g, id % 7 AS v, id FROM RANGE(0, 219999, 1, 1)")

    def first(*, fold: bool) -> set[Row]:
        changes = Bridge(spark).operator(
            rows,
            TopNOperator(
                keys=["g"],
                fold=fold,
                order=[SortColumn(1, True, False)],
                skip=0,
                limit=limit,
                retracting=False,
                begins=False,
                row_key=None,
                ranked=False,
                output_key=None,
                before=False,
                ttl=0,
                output_ddl=f"{ROW_KIND_COLUMN} TINYINT, g BIGINT, v BIGINT, id BIGINT",
            ),
        )
        return set(changes.collect())

    found = first(fold=True)
    partitions = rows.select("g").distinct().count()
    assert len(found) == partitions * min(limit, rows.count() // partitions)
    assert found == first(fold=False)
