"""ON CONFLICT DO NOTHING keeps the first row of each key, after every micro-batch.

The rows of a key have an order because they are in one partition.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from streamtable.testing.cases import Case
from streamtable.testing.histories import Change, pieces, random_cuts
from streamtable.testing.replay import Replay
from streamtable.testing.replayed import Replayed, Style

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SINK = """
CREATE TABLE out (k INT, n INT, v INT, PRIMARY KEY (k) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = 'out', 'properties.bootstrap.servers' = 'localhost:1',
  'key.format' = 'json', 'value.format' = 'json');
"""
_FIRST = "SELECT k, MIN(n), MIN_BY(v, n) FROM {rows} GROUP BY k"
QUERIES = {
    "SELECT k, n, v FROM e ON CONFLICT DO NOTHING": _FIRST.format(rows="e"),
    "SELECT k * 2, n, v FROM e WHERE v > 1 ON CONFLICT DO NOTHING": _FIRST.format(
        rows="(SELECT k * 2 AS k, n, v FROM e WHERE v > 1)"
    ),
    "SELECT k, CAST(COUNT(*) AS INT), MAX(v) FROM e GROUP BY k ON CONFLICT DO NOTHING": (
        "SELECT k, COUNT(*), MAX(v) FROM e GROUP BY k"
    ),
    "SELECT k, CAST(COUNT(*) AS INT), MAX(v) FROM e GROUP BY k ON CONFLICT DO ERROR": (
        "SELECT k, COUNT(*), MAX(v) FROM e GROUP BY k"
    ),
}


@pytest.mark.parametrize(
    "seed", [61, *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(62, 67))]
)
def test_the_first_row_of_each_key_is_kept(seed: int, spark: SparkSession) -> None:
    dice = random.Random(seed)
    rows = [Change(dice.randrange(9), {"n": n, "v": dice.randrange(5)}) for n in range(60)]
    batches = pieces(rows, random_cuts(seed, len(rows), 5))
    tables = {"e": Replayed(Style.APPEND, "k INT, n INT, v INT", batches)}
    cases = [Case(_SINK, flink, batch, (0,)) for flink, batch in QUERIES.items()]
    wrong = Replay(spark, tables, {}, in_memory=True).differences(cases)
    assert not list(wrong)
