"""UNION, INTERSECT and EXCEPT of changing tables equal Spark's batch answers."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.differential.support import Query, Source, check

from streamtable.core.changelog import RowKind
from streamtable.testing.cases import Case
from streamtable.testing.histories import random_history
from streamtable.testing.planned import planned, sink
from streamtable.testing.replay import Replay
from streamtable.testing.replayed import Recorded, Style

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_COLUMNS = "k INT, g INT, v INT"
_KINDS = {kind.short: kind for kind in RowKind}


def _query(operation: str) -> Query:
    """Count an operation's rows by its second column, with NULLs, so that the sink has a key."""
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


#: Query -> the changes that the query emits in each batch of the test.
_EMITTED = {
    "SELECT v FROM a INTERSECT SELECT v FROM b": ["", "+x", "", "", "", "-x", "", ""],
    "SELECT v FROM a EXCEPT SELECT v FROM b": ["+x", "-x", "", "", "", "", "", ""],
    "SELECT v FROM b EXCEPT SELECT v FROM a": ["", "", "", "", "", "+x", "", "-x"],
    "SELECT DISTINCT v FROM a": ["+x", "", "", "", "", "-x", "", ""],
}


@pytest.mark.parametrize("before", [True, False], ids=["retract", "upsert"])
def test_changes_of_duplicate_rows_are_not_emitted(before: bool, spark: SparkSession) -> None:
    changes = [("a", "+I"), ("b", "+I")] * 2 + [("a", "-D")] * 2 + [("b", "-D")] * 2
    tables = {
        name: Recorded(
            Style.CHANGES,
            "v STRING",
            [[(_KINDS[kind], ("x",))] if table == name else [] for table, kind in changes],
        )
        for name in ("a", "b")
    }
    key = None if before else (0,)
    cases = [
        Case(sink([column.field for column in planned(query, tables).columns], key), query, query)
        for query in _EMITTED
    ]
    replay = Replay(spark, tables, in_memory=True)
    for query, batches in zip(_EMITTED, replay.changes(cases), strict=True):
        # A filter of a full changelog keeps row kinds: the first row may be an update.
        signed = ([("-" if k.removes else "+") + row[0] for k, row in batch] for batch in batches)
        emitted = [" ".join(changes) for changes in signed]
        assert emitted == _EMITTED[query], query
