"""Flink SQL queries in DuckDB's dialect: their rows, and the parts that are refused by name."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import duckdb
import pytest
from sqlglot import exp

from streamtable.core.errors import Condition, StreamtableError
from streamtable.sql.duckdb import duckdb_sql
from streamtable.sql.parse import parse_query

_TABLES = """
CREATE TABLE t (id INTEGER, g VARCHAR, n INTEGER, d DECIMAL(10, 2), day DATE);
INSERT INTO t VALUES (1, 'a', 5, 1.50, DATE '2026-01-01'), (2, 'a', NULL, 2.50, NULL),
  (3, NULL, 7, NULL, NULL);
CREATE TABLE u (g VARCHAR, name VARCHAR);
INSERT INTO u VALUES ('a', 'it''s'), ('b', 'é')
"""


def _sql(text: str) -> str:
    query = parse_query(text)
    for table in query.find_all(exp.Table):
        table.set("catalog", exp.to_identifier("c"))

    def refused(what: str, why: str) -> StreamtableError:
        return StreamtableError(Condition.NO_BATCH_ANSWER, table="sink", operator=what, reason=why)

    return duckdb_sql(query, lambda table: table.name, refused)[0]


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        (
            "SELECT g, COUNT(*), SUM(n), MIN(d) FROM t GROUP BY g",
            {("a", 2, 5, Decimal("1.50")), (None, 1, 7, None)},
        ),
        ("SELECT g FROM t GROUP BY g HAVING COUNT(DISTINCT n) FILTER (WHERE id < 3) = 1", {("a",)}),
        ("SELECT id, name FROM t LEFT JOIN u ON t.g = u.g", {(1, "it's"), (2, "it's"), (3, None)}),
        # NULL is the lowest value: first in ascending order, last in descending order.
        (
            "SELECT id, p FROM (SELECT id, ROW_NUMBER() OVER (ORDER BY n) AS p FROM t) WHERE p < 3",
            {(2, 1), (1, 2)},
        ),
        (
            "SELECT id FROM (SELECT id, ROW_NUMBER() OVER (ORDER BY n DESC) p FROM t) WHERE p = 3",
            {(2,)},
        ),
        ("SELECT id, d * 2 + 0.5 FROM t WHERE d BETWEEN 1 AND 2", {(1, Decimal("3.50"))}),
        (
            "SELECT id, CASE WHEN n > 5 THEN 'big' ELSE 'it''s' END FROM t WHERE n IS NOT NULL",
            {(1, "it's"), (3, "big")},
        ),
        ("SELECT day FROM t WHERE day = DATE '2026-01-01'", {(datetime.date(2026, 1, 1),)}),
        ("SELECT CHAR_LENGTH(name), COALESCE(NULLIF(g, 'a'), '-') FROM u", {(4, "-"), (1, "b")}),
        ("SELECT g FROM t WHERE g IS NOT NULL UNION SELECT g FROM u", {("a",), ("b",)}),
        ("WITH w AS (SELECT g FROM u) SELECT id FROM t WHERE g IN (SELECT g FROM w)", {(1,), (2,)}),
        ("SELECT id FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.g = t.g)", {(3,)}),
    ],
)
def test_queries_have_flinks_rows(query: str, rows: set[tuple[Any, ...]]) -> None:
    with duckdb.connect() as connection:
        connection.execute(_TABLES)
        assert set(connection.execute(_sql(query)).fetchall()) == rows


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("SELECT UPPER(g) FROM t", "function UPPER in 'UPPER(g)'"),
        ("SELECT g, AVG(n) FROM t GROUP BY g", "function AVG in 'AVG(n)'"),
        ("SELECT COUNT(*) FROM t", "'COUNT(*)' without GROUP BY"),
        ("SELECT n / 2 FROM t", "Div in 'n / 2'"),
        ("SELECT CAST(n AS STRING) FROM t", "Cast in 'CAST(n AS STRING)'"),
        ("SELECT id FROM t WHERE g LIKE 'a%'", "Like in"),
        ("SELECT id FROM t ORDER BY id LIMIT 1", "ORDER, LIMIT in"),
        ("SELECT id FROM t /*+ OPTIONS('topic' = 'x') */", "HINTS in"),
        ("SELECT id FROM t GROUP BY GROUPING SETS ((id), ())", "GroupingSets in"),
        ("SELECT SUM(n) OVER (PARTITION BY g ORDER BY id) FROM t", "'SUM(n)'"),
        ("SELECT id FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(day), INTERVAL '1' DAY))", "TableFunc"),
        ("SELECT id FROM t WHERE day > TIMESTAMP '2026-01-01 00:00:00' + INTERVAL '1' DAY", "Int"),
    ],
)
def test_unsupported_expressions_are_refused_by_name(query: str, name: str) -> None:
    with pytest.raises(StreamtableError, match="NO_BATCH_ANSWER") as caught:
        _sql(query)
    assert str(caught.value.values["operator"]).startswith(name)
