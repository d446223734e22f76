"""Order-dependent aggregates over rows whose order other operators preserve."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from streamtable.core.changelog import RowKind
from streamtable.testing.cases import Case
from streamtable.testing.folding import Fold
from streamtable.testing.planned import planned, sink
from streamtable.testing.replay import Replay
from streamtable.testing.replayed import Recorded, Style

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_I = RowKind.INSERT
#: Rows in an order that differs from the order of their values.
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
#: Values that are rows of one field; ARRAY_AGG wraps values in such rows unless it ignores NULLs.
_ROW_OF_ONE = (
    "FIRST_VALUE(ROW(v)), LAST_VALUE(ROW(v)),"
    " ARRAY_AGG(ROW(v)) IGNORE NULLS, ARRAY_AGG(ROW(v)), ARRAY_AGG(v)"
)


def _of_one(*values: int) -> list[Any]:
    rows = [{"EXPR$0": value} for value in values]
    return [rows[0], rows[-1], rows, rows, [*values]]


#: Query -> the rows that Flink returns for input in this order.
_QUERIES: dict[str, list[list[Any]]] = {
    f"SELECT k, LISTAGG(CAST(x AS STRING)), LAST_VALUE(x) FROM {_ELEMENTS} GROUP BY k": [
        [1, "3,1,2,6,5,4", 4],
        [2, "8,7", 7],
    ],
    "SELECT k, LISTAGG(CAST(v AS STRING)), FIRST_VALUE(v) FROM (SELECT k, v FROM t WHERE k = 1"
    " UNION ALL SELECT k, v FROM t WHERE k = 2) GROUP BY k": [[1, "9,4,6", 9], [2, "5,1", 5]],
    "SELECT k, LISTAGG(CAST(s AS STRING)) FROM (SELECT k, SUM(v) OVER (PARTITION BY k ORDER BY ts)"
    " AS s FROM e) GROUP BY k": [[1, "5,3,2,2"]],
    f"SELECT k, {_ROW_OF_ONE} FROM t WHERE k = 2 GROUP BY k": [[2, *_of_one(5, 1)]],
    f"SELECT k, {_ROW_OF_ONE} FROM (SELECT k, xs, MAX(v) AS v FROM t GROUP BY k, xs) WHERE k = 2"
    " GROUP BY k": [[2, *_of_one(1, 5)]],
}


def test_aggregates_see_rows_in_input_order(spark: SparkSession) -> None:
    """Aggregates see rows in input order, although a shuffle may reorder the rows of a batch.

    All rows are in one batch.
    """
    cases = [
        Case(sink([column.field for column in planned(query, _TABLES).columns]), query, query)
        for query in _QUERIES
    ]
    found = Replay(spark, _TABLES, in_memory=True).changes(cases)
    for query, batches in zip(_QUERIES, found, strict=True):
        rows = [list(row) for changes in batches for _, row in changes]
        assert sorted(rows) == _QUERIES[query]


_U, _B, _D = RowKind.UPDATE_AFTER, RowKind.UPDATE_BEFORE, RowKind.DELETE
_SINK_TABLES = {
    "e": Recorded(
        Style.APPEND,
        "id INT, d INT, status STRING",
        [
            [(_I, (1, 7, "open")), (_I, (2, 7, "open")), (_I, (1, 7, "closed"))],
            [(_I, (2, 7, "new")), (_I, (2, 7, "old")), (_I, (2, 7, "new"))],
        ],
    ),
    "names": Recorded(Style.UPSERT, "k INT, name STRING", [[(_U, (7, "n"))], []]),
    "named": Recorded(Style.APPEND, "k INT, name STRING", [[(_I, (7, "n"))], []]),
    "c": Recorded(
        Style.CHANGES,
        "k INT, g INT, v STRING",
        [
            [(_I, (1, 1, "x")), (_I, (2, 1, "z"))],
            [(_B, (1, 1, "x")), (_U, (1, 1, "y")), (_B, (1, 1, "y")), (_U, (1, 1, "x"))],
        ],
    ),
    "p": Recorded(
        Style.CHANGES,
        "k INT, g INT, v STRING",
        [[(_I, (1, 1, "x")), (_I, (2, 1, "z"))], [(_D, (2, 1, "?"))]],
        "PRIMARY KEY (k) NOT ENFORCED",
    ),
}
#: Query into a sink with its first column as the key -> the sink's rows after each batch.
_LAST_ROWS: dict[str, list[list[list[Any]]]] = {
    f"SELECT e.id, e.status FROM e {rest}": [
        [[1, "closed"], [2, "open"]],
        [[1, "closed"], [2, "new"]],
    ]
    for rest in (
        "JOIN names AS n ON e.d = n.k",
        "LEFT JOIN names AS n ON e.d = n.k",
        "WHERE d IN (SELECT k FROM names)",
        "JOIN named AS n ON e.d = n.k",
    )
} | {
    "SELECT g, v FROM c": [[[1, "z"]], [[1, "x"]]],
    # The delete differs from the last row, so the operator finds that row by its key.
    "SELECT g, v, k FROM p": [[[1, "z", 2]], [[1, "x", 1]]],
}


def test_the_last_row_of_a_sink_key_wins(spark: SparkSession) -> None:
    """Flink applies rows one by one, also if they come in one batch and return to an old value."""
    cases = [
        Case(sink([c.field for c in planned(query, _SINK_TABLES).columns], (0,)), query, query)
        for query in _LAST_ROWS
    ]
    found = Replay(spark, _SINK_TABLES, in_memory=True).changes(cases)
    for query, batches in zip(_LAST_ROWS, found, strict=True):
        folded = Fold((0,))
        tables = []
        for changes in batches:
            for kind, row in changes:
                folded.add(kind, row)
            tables.append(sorted(folded.values()))
        assert tables == _LAST_ROWS[query], query


def test_rows_with_a_current_timestamp_are_retracted(spark: SparkSession) -> None:
    """A retraction removes its row although the CURRENT_TIMESTAMP of the two rows differs."""
    tables = {
        "u": Recorded(
            Style.UPSERT,
            "k INT, v INT",
            [[(_U, (1, 7)), (_U, (2, 7))], [(_U, (1, 8))], [(_D, (1, 8))]],
        ),
        "names": Recorded(
            Style.UPSERT, "k INT, name STRING", [[(_U, (7, "a")), (_U, (8, "b"))], [], []]
        ),
        "named": Recorded(Style.APPEND, "k INT, name STRING", [[(_I, (0, "n"))], [], []]),
    }
    joined = "SELECT u.k, n.name, CURRENT_TIMESTAMP AS t FROM u JOIN names AS n ON u.v = n.k"
    queries = (
        joined,
        # Rows with the same key have no order: two tasks emit the rows of an update.
        f"SELECT x.k, x.name, x.t FROM ({joined}) AS x JOIN named AS n ON MOD(x.k, 1) = n.k",
        (
            "SELECT k, name, t FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY k) AS n"
            f" FROM ({joined})) WHERE n <= 9"
        ),
        f"SELECT k, name, COUNT(t) OVER (ORDER BY name) FROM ({joined})",
    )
    cases = [Case(sink([c.field for c in planned(q, tables).columns], (0,)), q, q) for q in queries]
    found = Replay(spark, tables, in_memory=True, pause_s=1).changes(cases)
    for query, batches in zip(queries, found, strict=True):
        folded = Fold((0,))
        left = []
        for changes in batches:
            for kind, row in changes:
                folded.add(kind, row)
            left.append(sorted(row[:2] for row in folded.values()))
        assert left == [[[1, "a"], [2, "a"]], [[1, "b"], [2, "a"]], [[2, "a"]]], query


_SAME_TIME = "2026-01-01 00:00:01.000"
#: Rows of one window in the order of their arrival, all with the same time.
_TIED = [(1, 5, _SAME_TIME), (1, 9, _SAME_TIME), (1, 3, _SAME_TIME)]
#: ORDER BY and LIMIT of a ranking in a window -> the values that it keeps.
_RANKED = {
    ("ts", 1): [5],
    ("ts DESC", 1): [3],
    ("ts DESC", 2): [5, 9],
    ("MOD(v, 2)", 2): [5, 9],
    ("v", 2): [3, 5],
}


def test_ties_of_a_ranking_in_a_window(spark: SparkSession) -> None:
    """Among tied rows, the first to arrive ranks first.

    A ranking that keeps only the last row by event time keeps the last to arrive.
    """
    rows = [[(_I, row) for row in _TIED], [(_I, (2, 0, "2026-01-01 00:01:00.000"))]]
    tables = {
        "e": Recorded(Style.APPEND, "k INT, v INT, ts TIMESTAMP(3)", rows, "WATERMARK FOR ts AS ts")
    }
    windows = "TABLE(TUMBLE(TABLE e, DESCRIPTOR(ts), INTERVAL '10' SECOND))"
    queries = [
        "SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, k"
        f" ORDER BY {order}) AS n FROM {windows}) WHERE n <= {limit} AND k = 1"
        for order, limit in _RANKED
    ]
    cases = [Case(sink([c.field for c in planned(q, tables).columns]), q, q) for q in queries]
    found = Replay(spark, tables, in_memory=True).changes(cases)
    values = [[row[1] for changes in batches for _, row in changes] for batches in found]
    assert values == list(_RANKED.values())
