"""Batch answers of random queries equal those of Spark's SQL, over the same random histories."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.integration.batch.support import Answers

from streamtable.testing.differential import case_of, universe
from streamtable.testing.folding import bag, listed
from streamtable.testing.replay import Replay

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_FOREVER = {"table.exec.state.ttl": "0 s"}


@pytest.mark.parametrize(
    ("seed", "queries"),
    [(1, 12), *(pytest.param(seed, 24, marks=pytest.mark.soak) for seed in range(1, 40))],
)
def test_answers_of_random_queries_equal_spark_sql(
    seed: int, queries: int, spark: SparkSession
) -> None:
    given = universe(seed, queries, timed=True)
    settings = {**given.settings, **_FOREVER}
    replay = Replay(spark, given.tables, settings)
    cases = [case_of(given, i) for i in range(len(given.queries))]
    *_, expected = replay.answers(cases)
    answers = Answers(spark, given.tables, settings)
    found = answers.rows([replay.plan(one) for one in cases], [one.heaps for one in cases])
    wrong = []
    for i, rows in found.items():
        one, wanted = cases[i], bag(expected[i], cases[i].heaps)
        unborn = one.starts_empty and not rows and expected[i][0][0] == 0
        if rows != wanted and not unborn:
            wrong.append(f"{one.flink}\n  found {listed(rows)}\n  expected {listed(wanted)}")
    assert not wrong, "\n\n".join(wrong)
    assert len(found) >= len(cases) // 2, f"{answers.refused} {answers.doubted}"
