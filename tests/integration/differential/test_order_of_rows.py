"""Order-dependent aggregates over rows that other operators pass on in their order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from streamtable.core.changelog import RowKind
from streamtable.testing.cases import Case
from streamtable.testing.planned import planned, sink
from streamtable.testing.replay import Replay
from streamtable.testing.replayed import Recorded, Style

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_I = RowKind.INSERT
#: In an order that is not that of their values.
_ROWS = [(1, 9, [3, 1, 2]), (2, 5, [8, 7]), (1, 4, [6, 5]), (2, 1, []), (1, 6, [4])]
_EVENTS = [(1, v, f"2026-01-01 00:00:{second:02}.000") for second, v in enumerate((5, -2, -1, 0))]
_TABLES = {
    "t": Recorded(Style.APPEND, "k INT, v INT, xs ARRAY<INT>", [[(_I, r) for r in _ROWS]]),
    "e": Recorded(
        Style.APPEND,
        "k INT, v INT, ts TIMESTAMP(3)",
        [[(_I, r) for r in _EVENTS], []],
        "WATERMARK FOR ts AS ts",
    ),
}
_ELEMENTS = "t CROSS JOIN UNNEST(xs) AS u(x)"
#: Query -> its rows as Flink gives them for input in this order.
_QUERIES: dict[str, list[list[Any]]] = {
    f"SELECT k, LISTAGG(CAST(x AS STRING)), LAST_VALUE(x) FROM {_ELEMENTS} GROUP BY k": [
        [1, "3,1,2,6,5,4", 4],
        [2, "8,7", 7],
    ],
    "SELECT k, LISTAGG(CAST(v AS STRING)), FIRST_VALUE(v) FROM (SELECT k, v FROM t WHERE k = 1"
    " UNION ALL SELECT k, v FROM t WHERE k = 2) GROUP BY k": [[1, "9,4,6", 9], [2, "5,1", 5]],
    "SELECT k, LISTAGG(CAST(s AS STRING)) FROM (SELECT k, SUM(v) OVER (PARTITION BY k ORDER BY ts)"
    " AS s FROM e) GROUP BY k": [[1, "5,3,2,2"]],
}


def test_order_is_passed_on(spark: SparkSession) -> None:
    """All rows are in one batch, whose rows a shuffle brings in any order."""
    cases = [
        Case(sink([column.field for column in planned(query, _TABLES).columns]), query, query)
        for query in _QUERIES
    ]
    found = Replay(spark, _TABLES, in_memory=True).changes(cases)
    for query, batches in zip(_QUERIES, found, strict=True):
        rows = [list(row) for changes in batches for _, row in changes]
        assert sorted(rows) == _QUERIES[query]
