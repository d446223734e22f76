"""Strings are ordered by code points, as in Spark and in Flink, which compares their bytes."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from streamtable.testing.cases import Case
from streamtable.testing.histories import Change, pieces, random_cuts
from streamtable.testing.planned import planned, sink
from streamtable.testing.replay import Replay
from streamtable.testing.replayed import Replayed, Style

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Java orders the fourth string before the third, because an emoji begins with a surrogate.
TEXTS = ("", "a", "\ufffd", "\U0001f600", "\U0001f600a", "a\U0001f600", "a\uff5e", "\ud7ff")
_RANKED = "SELECT *, ROW_NUMBER() OVER (PARTITION BY g ORDER BY s DESC, k) AS r FROM t"
QUERIES = {
    "SELECT g, MIN(s), MAX(s) FROM t GROUP BY g": (0,),
    f"SELECT g, s, k FROM ({_RANKED}) AS ranked WHERE r <= 2": None,
}


@pytest.mark.parametrize("style", [Style.APPEND, Style.UPSERT])
def test_strings_are_ordered_by_code_point(spark: SparkSession, style: Style) -> None:
    dice = random.Random(71)
    rows = [Change(n % 30, {"g": dice.randrange(4), "s": dice.choice(TEXTS)}) for n in range(60)]
    if style is Style.APPEND:
        rows = rows[:30]
    batches = pieces(rows, random_cuts(71, len(rows), 4))
    tables = {"t": Replayed(style, "k INT, g INT, s STRING", batches)}
    cases = []
    for query, key in QUERIES.items():
        fields = [column.field for column in planned(query, tables).columns]
        cases.append(Case(sink(fields, key), query, query, key))
    assert not list(Replay(spark, tables, {}, in_memory=True).differences(cases))
