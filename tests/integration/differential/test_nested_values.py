"""Operators find stored rows by the content of their maps, arrays and rows of BYTES."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from tests.integration.differential.support import Query, Source, check

from streamtable.core.changelog import RowKind
from streamtable.testing.cases import Case
from streamtable.testing.folding import Fold
from streamtable.testing.histories import random_history
from streamtable.testing.planned import planned, sink
from streamtable.testing.replay import Replay
from streamtable.testing.replayed import Recorded, Style

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_COLUMNS = "k INT, g INT, v INT"
#: Nested value -> its expression over the text of `v` as BYTES, in Flink's and in Spark's SQL.
_NESTED = {
    "map": ("MAP['x', {0}, 'y', X'00']", "map('x', {0}, 'y', X'00')"),
    # The order of a Scala map with more than four entries depends on object addresses.
    "large map": (
        "MAP[{0}, 'x', X'00', 'y', X'01', 'z', X'02', 'x', X'03', 'y', X'04', 'z']",
        "map({0}, 'x', X'00', 'y', X'01', 'z', X'02', 'x', X'03', 'y', X'04', 'z')",
    ),
    "depth": (
        "ROW(ARRAY[MAP['x', MAP[{0}, 'x', X'00', 'y']]])",
        "struct(array(map('x', map({0}, 'x', X'00', 'y'))))",
    ),
}
#: Operator -> key of the sink, and a query of a table with the columns k, g, v and the nested h.
#: No query writes h, because JSON has no maps with keys of BYTES.
_OPERATORS = {
    "keyed_join": ((0,), "SELECT n.k, b.v, n.h IS NULL FROM {n} JOIN b ON n.g = b.k"),
    "single_join": ((0,), "SELECT n.k, b.v, n.h IS NULL FROM {n} LEFT JOIN b ON n.k = b.k"),
    "counted_join": (
        (0,),
        (
            "SELECT COALESCE(b.v, -1), COUNT(n.h) FROM (SELECT v, g, h FROM {n}) AS n"
            " FULL JOIN b ON n.g = b.g GROUP BY COALESCE(b.v, -1)"
        ),
    ),
    "collected": (
        (0,),
        (
            "SELECT g, COUNT(*) FROM (SELECT COALESCE(g, -1) AS g, COLLECT(h) AS m FROM {n}"
            " GROUP BY COALESCE(g, -1)) AS x CROSS JOIN UNNEST(m) GROUP BY g"
        ),
    ),
    "over": (
        (0,),
        "SELECT k, SUM(v) OVER (PARTITION BY COALESCE(g, -1) ORDER BY v), h IS NULL FROM {n}",
    ),
    "top_n": (
        (0, 1),
        (
            "SELECT g, rn, v, h IS NULL FROM (SELECT COALESCE(g, -1) AS g, v, h, ROW_NUMBER() OVER"
            " (PARTITION BY COALESCE(g, -1) ORDER BY v) AS rn FROM {n}) AS x WHERE rn <= 2"
        ),
    ),
}


def _queries() -> dict[str, Query]:
    found = {}
    for name, (flink, spark) in _NESTED.items():
        tables = [
            f"(SELECT k, g, v, {nested.format(f'CAST(CAST(v AS STRING) AS {binary})')} AS h FROM a)"
            for nested, binary in ((flink, "BYTES"), (spark, "BINARY"))
        ]
        for operator, (key, sql) in _OPERATORS.items():
            query, batch = (sql.format(n=f"{table} AS n") for table in tables)
            if operator == "collected":
                batch = "SELECT COALESCE(g, -1), COUNT(*) FROM a GROUP BY COALESCE(g, -1)"
            found[f"{operator} of {name}"] = Query(key, query, batch)
    return found


def _values(source: random.Random) -> dict[str, Any]:
    return {"g": source.choice([None, *range(6)]), "v": source.randrange(4)}


def test_stored_rows_are_found_by_content(spark: SparkSession) -> None:
    sources = {
        "a": Source(_COLUMNS, random_history(81, length=90, keys=14, make=_values)),
        "b": Source(_COLUMNS, random_history(82, length=60, keys=6, make=_values)),
    }
    assert check(spark, 81, sources, _queries()) == 0


def test_equal_maps_are_one_group(spark: SparkSession) -> None:
    """Equal maps are one group, although their entries arrive in different orders."""
    maps = [dict.fromkeys(names, 1) for names in ("abcde", "edcba", "a", "cbade")]
    rows = [(RowKind.INSERT, (k, found)) for k, found in enumerate(maps)]
    tables = {"e": Recorded(Style.APPEND, "k INT, m MAP<STRING, INT>", [rows[:3], rows[3:]])}
    queries = {
        "SELECT CARDINALITY(m), COUNT(*) FROM e GROUP BY m": [[1, 1], [5, 3]],
        "SELECT COUNT(*), COUNT(DISTINCT m) FROM e": [[4, 2]],
        "SELECT k, CARDINALITY(m) FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY m ORDER BY k)"
        " AS n FROM e) WHERE n = 1": [[0, 5], [2, 1]],
    }
    cases = [Case(sink([c.field for c in planned(q, tables).columns], (0,)), q, q) for q in queries]
    for query, batches in zip(queries, Replay(spark, tables).changes(cases), strict=True):
        folded = Fold((0,))
        for kind, row in (change for batch in batches for change in batch):
            folded.add(kind, row)
        assert sorted(folded.values()) == queries[query], query
