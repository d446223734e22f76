"""Batch answers of each operator equal Flink's results, which are listed here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.batch.support import Answers

from streamtable.batch.answer import answer
from streamtable.batch.carried import Lineage
from streamtable.core.changelog import RowKind
from streamtable.session import Session, fixed_settings
from streamtable.testing.folding import bag
from streamtable.testing.planned import planned, sink
from streamtable.testing.replayed import Recorded, Style

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import SparkSession

    from streamtable.plan.sink.sink import Sink

_I, _U, _D, _B = RowKind.INSERT, RowKind.UPDATE_AFTER, RowKind.DELETE, RowKind.UPDATE_BEFORE
_MOST = 2**31 - 1

#: `e` is append-only, `u` has upserts, `c` a full changelog, `t` event times.
_TABLES = {
    "e": Recorded(
        Style.APPEND,
        "k INT, g STRING, v INT, d DECIMAL(10, 2), f DOUBLE, xs ARRAY<INT>",
        [
            [
                (_I, (1, "a", _MOST, 1.10, 0.5, [1, 2])),
                (_I, (2, "a", 1, 2.25, 1.5, [])),
                (_I, (3, "b", 7, None, None, None)),
            ],
            [(_I, (4, "b", 8, 0.01, 2.0, [3])), (_I, (5, None, None, 9.99, 1.0, [4]))],
        ],
    ),
    "u": Recorded(
        Style.UPSERT,
        "k INT, g STRING, v INT",
        [
            [(_U, (1, "a", 1)), (_U, (2, "a", 2)), (_U, (3, None, 3))],
            [(_U, (2, "b", 20)), (_D, (3, None, None)), (_U, (4, None, 4))],
        ],
    ),
    "c": Recorded(
        Style.CHANGES,
        "k INT, v INT",
        [[(_I, (1, 1)), (_I, (1, 1)), (_I, (2, 2))], [(_B, (2, 2)), (_U, (2, 3)), (_D, (1, 1))]],
    ),
    "t": Recorded(
        Style.APPEND,
        "k INT, v INT, ts TIMESTAMP(3)",
        [
            [
                (_I, (1, 10, "2026-01-01T00:00:01")),
                (_I, (1, 20, "2026-01-01T00:00:04")),
                (_I, (2, 5, "2026-01-01T00:00:04")),
                (_I, (1, 40, "2026-01-01T00:00:21")),
            ]
        ],
        "WATERMARK FOR ts AS ts",
    ),
}
_TUMBLE = "TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' SECOND))"
_SESSION = "TABLE(SESSION(TABLE t PARTITION BY k, DESCRIPTOR(ts), INTERVAL '3' SECOND))"


@dataclass(frozen=True)
class _Case:
    """A query and its expected rows; `watermark_ms` as in `BatchContext`."""

    name: str
    query: str
    rows: Sequence[Sequence[Any]]
    watermark_ms: int | None = None


_CASES = (
    _Case("sums wrap", "SELECT g, SUM(v) FROM e WHERE g = 'a' GROUP BY g", [["a", -(2**31)]]),
    _Case("averages truncate", "SELECT AVG(v) FROM e WHERE g = 'b'", [[7]]),
    _Case("an average of 64 bits", "SELECT AVG(v) FROM e WHERE g = 'a'", [[2**30]]),
    _Case("decimal averages", "SELECT SUM(d), AVG(d) FROM e", [[13.35, 3.3375]]),
    _Case(
        "deviations of integers",
        "SELECT VAR_POP(k), VAR_SAMP(k), STDDEV_POP(k) FROM e",
        [[2, 2, 1]],
    ),
    _Case("deviations of doubles", "SELECT VAR_POP(f) FROM e", [[0.3125]]),
    _Case(
        "filters and distinct values",
        "SELECT COUNT(*), COUNT(v), COUNT(DISTINCT g) FILTER (WHERE k > 1), MIN(v), MAX(g) FROM e",
        [[5, 4, 2, 1, "b"]],
    ),
    _Case("no group for no rows", "SELECT COUNT(*) FROM e WHERE k > 100", []),
    _Case("a limit", "SELECT k FROM e LIMIT 2 OFFSET 1", [[2], [3]]),
    _Case(
        "no limit",
        "SELECT k FROM (SELECT k FROM e UNION ALL SELECT k FROM t) LIMIT 9",
        [[k] for k in (1, 2, 3, 4, 5, 1, 1, 2, 1)],
    ),
    _Case("the limit of no rows", "SELECT k FROM e LIMIT 0", []),
    _Case("null groups", "SELECT g, COUNT(*) FROM e GROUP BY g", [["a", 2], ["b", 2], [None, 1]]),
    _Case(
        "ordered aggregates",
        "SELECT LISTAGG(g), FIRST_VALUE(g), LAST_VALUE(k), ARRAY_AGG(v) FROM e",
        [["a,a,b,b", "a", 5, [_MOST, 1, 7, 8, None]]],
    ),
    _Case(
        "bitmaps",
        "SELECT BITMAP_TO_STRING(BITMAP_OR_AGG(BITMAP_BUILD(xs))),"
        " BITMAP_AND_CARDINALITY_AGG(BITMAP_BUILD(xs)),"
        " BITMAP_TO_STRING(BITMAP_XOR_AGG(DISTINCT BITMAP_BUILD(ARRAY[1, k / 3]))) FROM e",
        [["{1,2,3,4}", 0, "{0}"]],
    ),
    _Case(
        "bitmaps of changes",
        "SELECT BITMAP_TO_STRING(BITMAP_BUILD_AGG(v)), BITMAP_BUILD_CARDINALITY_AGG(k) FROM c",
        [["{1,3}", 2]],
    ),
    _Case(
        "grouping sets",
        "SELECT g, COUNT(*) FROM e WHERE g IS NOT NULL GROUP BY ROLLUP (g)",
        [["a", 2], ["b", 2], [None, 4]],
    ),
    _Case("unnested", "SELECT k, x FROM e, UNNEST(xs) AS n (x)", [[1, 1], [1, 2], [4, 3], [5, 4]]),
    _Case("upserts", "SELECT k, g, v FROM u", [[1, "a", 1], [2, "b", 20], [4, None, 4]]),
    _Case("counted changes", "SELECT k, v FROM c", [[1, 1], [2, 3]]),
    _Case("over changes", "SELECT COUNT(*), SUM(v) FROM c", [[2, 4]]),
    _Case(
        "null keys join nothing",
        "SELECT e.k, u.k FROM e JOIN u ON e.g = u.g",
        [[1, 1], [2, 1], [3, 2], [4, 2]],
    ),
    _Case(
        "numbered columns of a star",
        "SELECT k, k0, g, v FROM (SELECT e.k, u.* FROM e JOIN u ON e.g = u.g UNION"
        " SELECT * FROM (SELECT 9 AS k, u.* FROM u WHERE u.k = 1))",
        [[1, 1, "a", 1], [2, 1, "a", 1], [3, 2, "b", 20], [4, 2, "b", 20], [9, 1, "a", 1]],
    ),
    _Case(
        "outer joins pad",
        "SELECT e.k, u.k FROM e FULL JOIN u ON e.k = u.k AND u.v > 1",
        [[1, None], [2, 2], [3, None], [4, 4], [5, None], [None, 1]],
    ),
    _Case("semi joins", "SELECT k FROM e WHERE k IN (SELECT k FROM u)", [[1], [2], [4]]),
    _Case(
        "anti joins",
        "SELECT k FROM e WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.k = e.k)",
        [[3], [5]],
    ),
    _Case(
        "ties have the order of positions",
        "SELECT k, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY g ORDER BY xs IS NULL) AS n"
        " FROM e) WHERE n <= 1",
        [[1, 1], [4, 1], [5, 1]],
    ),
    _Case("limits", "SELECT k FROM u ORDER BY v DESC LIMIT 2", [[2], [4]]),
    _Case("sets", "SELECT k FROM e INTERSECT SELECT k FROM u", [[1], [2], [4]]),
    _Case("bags", "SELECT v FROM c EXCEPT ALL SELECT k FROM u", [[3]]),
    _Case("unions", "SELECT k FROM c UNION ALL SELECT k FROM u", [[1], [2], [1], [2], [4]]),
    _Case("values", "SELECT a, a + 1 FROM (VALUES (1), (2)) AS v (a)", [[1, 2], [2, 3]]),
    _Case(
        "windows",
        f"SELECT k, SUM(v), window_end FROM {_TUMBLE} GROUP BY k, window_start, window_end",
        [
            [1, 30, "2026-01-01T00:00:10.000"],
            [1, 40, "2026-01-01T00:00:30.000"],
            [2, 5, "2026-01-01T00:00:10.000"],
        ],
    ),
    _Case(
        "open windows have no rows",
        f"SELECT k, SUM(v) FROM {_TUMBLE} GROUP BY k, window_start, window_end",
        [[1, 30], [2, 5]],
        watermark_ms=1_767_225_621_000,
    ),
    _Case(
        "sessions",
        f"SELECT k, SUM(v), window_start FROM {_SESSION} GROUP BY k, window_start, window_end",
        [
            [1, 30, "2026-01-01T00:00:01.000"],
            [1, 40, "2026-01-01T00:00:21.000"],
            [2, 5, "2026-01-01T00:00:04.000"],
        ],
    ),
    _Case(
        "the first row by event time",
        "SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts) AS n FROM t)"
        " WHERE n = 1",
        [[1, 10], [2, 5]],
    ),
    _Case(
        "joins within an interval",
        "SELECT a.v, b.v FROM t a JOIN t b ON a.k = b.k AND a.ts BETWEEN b.ts AND b.ts +"
        " INTERVAL '5' SECOND",
        [[5, 5], [10, 10], [20, 10], [20, 20], [40, 40]],
    ),
)


def test_each_operator_has_flinks_results(spark: SparkSession) -> None:
    wrong = []
    for moment in {case.watermark_ms for case in _CASES}:
        cases = [case for case in _CASES if case.watermark_ms == moment]
        answers = Answers(spark, _TABLES, {"table.local-time-zone": "UTC"}, watermark_ms=moment)
        found = answers.rows([_plan(case.query) for case in cases])
        assert not answers.refused
        assert not answers.doubted
        for i, case in enumerate(cases):
            if found[i] != bag(case.rows):
                wrong.append(f"{case.name}: {sorted(found[i].elements())}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    "query",
    [
        pytest.param(
            "SELECT LISTAGG(g) FROM (SELECT g FROM e UNION ALL SELECT g FROM o)", id="partitions"
        ),
        pytest.param(
            "SELECT LAST_VALUE(n) FROM (SELECT k, COUNT(*) AS n FROM"
            f" {_TUMBLE} GROUP BY k, window_start, window_end)",
            id="groups of one window",
        ),
        pytest.param(
            "SELECT * FROM (SELECT k FROM e UNION ALL SELECT k FROM o) LIMIT 6", id="limit"
        ),
        pytest.param(
            "SELECT * FROM (SELECT k FROM e UNION ALL SELECT k FROM o) LIMIT 9 OFFSET 9",
            id="offset",
        ),
    ],
)
def test_answers_by_arrival_order_are_uncertain(query: str, spark: SparkSession) -> None:
    """Rows of several partitions, or with one position, have no stored order."""
    tables = {**_TABLES, "o": _TABLES["e"]}
    answers = Answers(spark, tables, {"table.local-time-zone": "UTC"})
    found = answers.rows([_plan(query, tables)])
    assert not found
    (reason,) = answers.doubted
    assert "whose order is that of arrival" in reason


def test_answers_from_contradictory_changes_are_uncertain(spark: SparkSession) -> None:
    rows = [[(_I, (1, 1)), (_I, (1, 2))]]
    tables = {"c": _Keyed(Style.CHANGES, "k INT, v INT", rows)}
    answers = Answers(spark, tables, {})
    assert not answers.rows([_plan("SELECT SUM(v) FROM c", tables)])
    assert answers.doubted == {
        "its change events contradict each other, and are counted one by one": 1
    }


def test_rows_carry_their_source_records(spark: SparkSession) -> None:
    answers = Answers(spark, _TABLES, {}, carried=Lineage(limit=3))
    query = "SELECT u.g, COUNT(*) FROM e JOIN u ON e.k = u.k GROUP BY u.g"
    context = answers.context()
    rows = answer(_plan(query).input, context).selectExpr(
        "c0", "transform(__lineage, r -> array(r.scan, r.offset)) AS origin"
    )
    found = {row.c0: [list(map(int, one)) for one in row.origin] for row in rows.collect()}
    assert found == {"a": [[1, 0], [0, 0]], "b": [[1, 3], [0, 1]], None: [[1, 5], [0, 3]]}


@pytest.mark.parametrize("style", [Style.UPSERT, Style.CHANGES])
def test_folded_rows_carry_their_last_record(style: Style, spark: SparkSession) -> None:
    rows = [[(_I, (1, 1)), (_B, (1, 1)), (_U, (1, 2))]]
    tables = {"c": _Keyed(style, "k INT, v INT", rows)}
    answers = Answers(spark, tables, {}, carried=Lineage())
    found = answer(_plan("SELECT k, v FROM c", tables).input, answers.context())
    (row,) = found.selectExpr("c1", "__lineage[0].offset AS last").collect()
    assert (row.c1, row.last) == (2, 2)


class _Keyed(Recorded):
    """A recorded table with the primary key `k`."""

    def ddl(self, name: str) -> str:
        plain = super().ddl(name)
        if "PRIMARY KEY" in plain:
            return plain
        return plain.replace(") WITH", ", PRIMARY KEY (k) NOT ENFORCED) WITH", 1)


def _plan(query: str, tables: dict[str, Recorded] | None = None) -> Sink:
    tables = tables or _TABLES
    fields = [column.field for column in planned(query, tables).columns]
    session = Session(settings=fixed_settings({"table.local-time-zone": "UTC"}))
    sources = "\n".join(table.ddl(name) for name, table in tables.items())
    session.load(f"{sources}\n{sink(fields)}\nINSERT INTO out {query};", "case.sql")
    return session.plans[0]
