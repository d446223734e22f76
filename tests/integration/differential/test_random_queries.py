"""Random queries over random histories equal the batch answers at the end of every micro-batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from streamtable.testing.cases import Case
from streamtable.testing.differential import check, universe
from streamtable.testing.histories import Change
from streamtable.testing.replay import Replay
from streamtable.testing.replayed import Replayed, Style

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_ON_SPARK = range(1, 130)
#: Seeds of runs in memory, in which a case takes a small part of the time.
_IN_MEMORY = range(1001, 1131)


def _cases(seeds: range) -> list[Any]:
    """Return half of the queries of the first seed, and all queries of every seed for the soak."""
    whole = (pytest.param(seed, 16, marks=pytest.mark.soak) for seed in seeds)
    return [(seeds[0], 8), *whole]


@pytest.mark.parametrize(("seed", "queries"), _cases(_ON_SPARK))
def test_folded_output_equals_batch(seed: int, queries: int, spark: SparkSession) -> None:
    wrong = check(spark, universe(seed, queries))
    assert not wrong, "\n\n".join(wrong)


@pytest.mark.parametrize("reached", [False, True])
@pytest.mark.parametrize(("seed", "queries"), _cases(_IN_MEMORY))
def test_folded_output_equals_batch_in_memory(
    seed: int, queries: int, reached: bool, spark: SparkSession
) -> None:
    given = universe(seed, queries, batches=5, timed=True)
    wrong = check(spark, given, in_memory=True, reached=reached)
    assert not wrong, "\n\n".join(wrong)


@pytest.mark.parametrize("in_memory", [False, True])
def test_a_wrong_answer_is_found(in_memory: bool, spark: SparkSession) -> None:
    """The harness finds a difference, at the first batch that has one."""
    first, second = [Change(1, {"v": 1})], [Change(2, {"v": 5})]
    tables = {"a": Replayed(Style.UPSERT, "k INT, v INT", [first, second])}
    sink = (
        "CREATE TABLE out (k INT, v INT, PRIMARY KEY (k) NOT ENFORCED) WITH ('topic' = 'out',"
        " 'connector' = 'upsert-kafka', 'properties.bootstrap.servers' = 'localhost:9092',"
        " 'key.format' = 'json', 'value.format' = 'json');"
    )
    flink = "SELECT k, v FROM a"
    right = Case(sink, flink, flink, key=(0,))
    wrong = Case(sink, flink, "SELECT k, LEAST(v, 4) FROM a", key=(0,))
    replay = Replay(spark, tables, in_memory=in_memory)
    (found,) = replay.differences([right, wrong])
    assert (found.case, found.batch) == (1, 1)
    assert found.found == [([1, 1], 1), ([2, 5], 1)]
    assert found.expected == [([1, 1], 1), ([2, 4], 1)]
