"""Joins over changing tables equal Spark's batch joins over the final tables.

`a.g` refers to keys of `b`, so that rows move from one join key to another, meet none, or have a
NULL there; `v` has few values, so that equal rows come twice.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.differential.support import Query, Source, check

from streamtable.core.changelog import RowKind
from streamtable.testing.cases import Case
from streamtable.testing.histories import Change, random_history
from streamtable.testing.planned import planned, sink
from streamtable.testing.replay import Replay
from streamtable.testing.replayed import Recorded, Style

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_COLUMNS = "k INT, g INT, v INT"


def _counted(join: str, x: str, y: str) -> Query:
    """Counts equal rows of a join, so that any join has a key to be written by."""
    x, y = f"COALESCE({x}, -1)", f"COALESCE({y}, -1)"
    sql = f"SELECT {x} AS x, {y} AS y, COUNT(*) AS n FROM {join} GROUP BY {x}, {y}"
    return Query((0, 1), sql)


KEYED = {
    "inner_by_keys": Query((0,), "SELECT b.k, a.v, b.v FROM a JOIN b ON a.k = b.k"),
    "left_moving": Query((0,), "SELECT a.k, a.g, b.v FROM a LEFT JOIN b ON a.g = b.k"),
    "left_residual": Query(
        (0,),
        "SELECT a.k, a.g, b.v FROM a LEFT JOIN b ON a.g = b.k AND a.v < b.v AND b.v > 1",
    ),
    "both_keys": Query(
        (0, 1),
        "SELECT a.k, b.k, a.v FROM a, b WHERE a.g = b.g AND a.v > 0 AND a.v + b.v < 6",
    ),
    "unmatched": Query((0,), "SELECT a.k, a.v FROM a LEFT JOIN b ON a.k = b.k WHERE b.k IS NULL"),
    "three_ways": Query(
        (0,),
        (
            "SELECT x.k, x.v, y.v, b.v FROM a AS x JOIN a AS y ON x.g = y.k"
            " LEFT JOIN b ON y.g = b.k WHERE x.v <> 3"
        ),
    ),
    "upserts_filtered": Query(
        (0,),
        (
            "SELECT a.k, a.w, b.v FROM (SELECT k, 12 / v AS w FROM a WHERE v > 0) AS a"
            " LEFT JOIN (SELECT v, k FROM b WHERE v > 1 OR g = 2) AS b ON a.k = b.k"
        ),
        (
            "SELECT a.k, a.w, b.v FROM (SELECT k, 12 DIV v AS w FROM a WHERE v > 0) AS a"
            " LEFT JOIN (SELECT v, k FROM b WHERE v > 1 OR g = 2) AS b ON a.k = b.k"
        ),
    ),
    "pairs": Query(
        (0, 1),
        "SELECT a.k, b.k, a.v FROM a CROSS JOIN b WHERE a.v > 3 AND b.v > a.v",
    ),
    "using_key": Query((0,), "SELECT k, a.v, b.v FROM a RIGHT JOIN b USING (k)"),
}

COUNTED = {
    "inner_many": _counted("a JOIN b ON a.g = b.g", "a.v", "b.v"),
    "full_many": _counted("a FULL JOIN b ON a.g = b.g", "a.v", "b.v"),
    "full_residual": _counted("a FULL JOIN b ON a.g = b.g AND a.v < b.v", "a.v", "b.v"),
    "right_residual": _counted("a RIGHT JOIN b ON a.g = b.k AND a.v <> b.v", "a.v", "b.v"),
    "no_equality": _counted("a FULL JOIN b ON a.v < b.v AND b.k < 3", "a.v", "b.v"),
    "of_groups": _counted(
        (
            "(SELECT g, COUNT(*) AS n FROM a GROUP BY g) AS p"
            " FULL JOIN (SELECT g, MAX(v) AS n FROM b GROUP BY g) AS q ON p.g = q.g"
        ),
        "CAST(p.n AS INT)",
        "q.n",
    ),
}

#: What stands in parentheses is joined first.
NESTED = {
    "inner_in_left": Query(
        (0,),
        (
            "SELECT x.k, y.v, b.v FROM a AS x"
            " LEFT JOIN (a AS y JOIN b ON y.g = b.k AND b.v > 1) ON x.g = y.k"
        ),
    ),
    "left_in_full": _counted(
        "b FULL JOIN (a AS x LEFT JOIN a AS y ON x.g = y.k) ON b.g = x.g", "b.v", "y.v"
    ),
    "filtered": Query(
        (0, 1),
        (
            "SELECT a.k, x.k, q.n FROM a CROSS JOIN ((b AS x JOIN"
            " (SELECT g, COUNT(*) AS n FROM b GROUP BY g) AS q USING (g)))"
            " WHERE a.g = x.k AND q.n < 4 AND x.v < a.v"
        ),
    ),
    "from_query": _counted(
        "((SELECT k, g FROM a) AS p JOIN b ON p.g = b.k) RIGHT JOIN a ON a.k = p.k", "b.v", "a.v"
    ),
}


#: Rows that are only added stay in state.
ADDED = {
    "left_of_append": _counted("e LEFT JOIN b ON e.g = b.k", "e.v", "b.v"),
    "right_of_append": _counted("b LEFT JOIN e ON b.g = e.g AND e.v < 4", "b.v", "e.v"),
    "appends": _counted("e LEFT JOIN e AS f ON e.g = f.k", "e.v", "f.v"),
}


def _values(source: random.Random) -> dict[str, Any]:
    return {"g": source.choice([None, *range(8)]), "v": source.choice([None, *range(6)])}


def _sources(seed: int) -> dict[str, Source]:
    dice = random.Random(seed)
    added = [Change(dice.randrange(12), _values(dice)) for _ in range(40)]
    return {
        "a": Source(_COLUMNS, random_history(seed, length=110, keys=14, make=_values)),
        "b": Source(_COLUMNS, random_history(seed + 1, length=110, keys=10, make=_values)),
        "e": Source(_COLUMNS, added, appends=True),
    }


@pytest.mark.parametrize(
    "seed", [22, *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(23, 30))]
)
@pytest.mark.parametrize(
    "queries",
    [KEYED, COUNTED, NESTED, ADDED],
    ids=["keyed", "counted", "nested", "added"],
)
def test_folded_output_equals_batch_and_nothing_stays(
    seed: int, queries: dict[str, Query], spark: SparkSession
) -> None:
    entries = check(spark, seed, _sources(seed), queries)
    assert (entries > 0) == (queries is ADDED)


def test_a_join_key_with_more_rows_than_a_call_holds(spark: SparkSession) -> None:
    """A side that is read once per call holds up to 1,000 rows (`ReadOnceSide`)."""
    dice = random.Random(50)
    added = [Change(k, {"g": 1, "v": dice.randrange(6)}) for k in range(1_300)]
    sources = {
        "e": Source(_COLUMNS, added, appends=True),
        "b": Source(_COLUMNS, random_history(51, length=12, keys=3, make=_values)),
    }
    queries = {
        "inner": _counted("e JOIN b ON e.g = b.k", "e.v", "b.v"),
        "outer": _counted("e FULL JOIN b ON e.g = b.k AND e.v <> b.v", "e.v", "b.v"),
    }
    assert check(spark, 52, sources, queries) > 0


#: Joins whose side `a` has one row per join key, or several by their key.
_BY_KEY = (
    "SELECT a.k, a.v, b.v FROM a JOIN b ON a.k = b.k",
    "SELECT a.k, a.v, b.v FROM a JOIN b ON a.g = b.k",
    "SELECT a.k, a.v, b.v FROM a LEFT JOIN b ON a.g = b.k AND a.v < b.v",
    "SELECT a.k, a.v, -b.v FROM a FULL JOIN b ON a.k = b.k AND a.v < b.v",
    "SELECT a.k, a.v FROM a WHERE a.g IN (SELECT k FROM b)",
)
#: Changes of the column v of one row of table a, batch by batch -> the last v; None for no row.
_INEXACT: dict[str, tuple[list[str], int | None]] = {
    "deleted": (["+I 10", "-D 99"], None),
    "deleted twice": (["+I 10", "-D 10 -D 10"], None),
    "updated": (["+I 10", "-U 99 +U 11"], 11),
    "updated to the same": (["+I 10", "-U 99 +U 10"], 10),
    "updated twice": (["+I 10", "-U 99 +U 11 -U 98 +U 12"], 12),
    "updated and deleted": (["+I 10", "-U 99 +U 11 -D 98"], None),
    "deleted in its batch": (["+I 10 -U 99 +U 11 -D 98"], None),
    "updated in its batch": (["+I 10 -U 99 +U 11"], 11),
    "updated before it is known": (["-U 99 +U 10"], 10),
    "deleted before it is known": (["-D 99", "+I 10"], 10),
}
_KINDS = {kind.short: kind for kind in RowKind}


def _net(
    spark: SparkSession,
    settings: dict[str, str],
    rows: list[list[tuple[RowKind, Any]]],
    others: list[list[tuple[RowKind, Any]]],
) -> dict[str, Counter[str]]:
    """Returns the rows of each query in the end, with their counts."""
    tables = {
        name: Recorded(Style.CHANGES, _COLUMNS, batches, "PRIMARY KEY (k) NOT ENFORCED")
        for name, batches in (("a", rows), ("b", others))
    }
    cases = [
        Case(sink([column.field for column in planned(query, tables).columns]), query, query)
        for query in _BY_KEY
    ]
    found = {}
    for query, batches in zip(
        _BY_KEY, Replay(spark, tables, settings, in_memory=True).changes(cases), strict=True
    ):
        net: Counter[str] = Counter()
        for kind, row in (change for batch in batches for change in batch):
            net[json.dumps(row)] += -1 if kind.removes else 1
        found[query] = Counter({row: count for row, count in net.items() if count})
    return found


@pytest.mark.parametrize("ttl", ["0 s", "1 d"])
def test_a_retraction_removes_the_row_with_its_key(ttl: str, spark: SparkSession) -> None:
    """Retractions may differ from the rows they retract, as values of a clock do."""
    settings = {"table.exec.state.ttl": ttl}
    changes: list[list[tuple[RowKind, Any]]] = [[], [], []]
    left = []
    for k, (batches, last) in enumerate(_INEXACT.values()):
        for number, batch in enumerate(batches):
            words = batch.split()
            for kind, value in zip(words[::2], words[1::2], strict=True):
                changes[number].append((_KINDS[kind], (k, k, int(value))))
        if last is not None:
            left.append((RowKind.INSERT, (k, k, last)))
    keys = range(len(_INEXACT))
    old, new = ([(k, 0, v) for k in keys] for v in (20, 30))
    # The other side changes in the end, which reads all rows that are stored.
    others = [
        [(RowKind.INSERT, row) for row in old],
        [],
        [(RowKind.UPDATE_BEFORE, row) for row in old]
        + [(RowKind.UPDATE_AFTER, row) for row in new],
    ]
    found = _net(spark, settings, changes, others)
    expected = _net(spark, settings, [left], [[(RowKind.INSERT, row) for row in new]])
    for query in _BY_KEY:
        # With a state TTL, a row that is not known may have expired, so its output is retracted.
        rows = found[query] if ttl == "0 s" else +found[query]
        assert rows == expected[query], query
