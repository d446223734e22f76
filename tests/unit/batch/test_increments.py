"""Queries whose answer follows from their earlier answer and the new records.

Other queries are refused with the operator and the reason.
"""

from __future__ import annotations

import pytest

from streamtable.batch.increments import increment_refusal
from streamtable.runtime.proof.sides import compared_fields, compared_key
from streamtable.session import Session

_OPTIONS = "'properties.bootstrap.servers' = 'localhost:9092'"
_UPSERT = (
    f"'connector' = 'upsert-kafka', 'key.format' = 'json', 'value.format' = 'json', {_OPTIONS}"
)
_TABLES = f"""
CREATE TABLE e (
  k INT, g STRING, f DOUBLE, d DECIMAL(10, 2), w DECIMAL(30, 2), a ARRAY<INT>, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts
) WITH ('connector' = 'kafka', 'topic' = 'e', 'format' = 'json', {_OPTIONS});
CREATE TABLE u (k INT PRIMARY KEY NOT ENFORCED, g STRING) WITH ({_UPSERT}, 'topic' = 'u');
"""


def _reason(columns: str, key: str, query: str) -> str | None:
    session = Session()
    if key:
        columns, options = f"{columns}, PRIMARY KEY ({key}) NOT ENFORCED", _UPSERT
    else:
        options = f"'connector' = 'kafka', 'format' = 'json', {_OPTIONS}"
    sink = f"CREATE TABLE o ({columns}) WITH ({options}, 'topic' = 'o');"
    session.load(f"{_TABLES}\n{sink}\nINSERT INTO o {query};", "job.sql")
    (plan,) = session.plans
    found = increment_refusal(plan, compared_fields(plan), compared_key(plan))
    return None if found is None else f"{found.node.described}: {found.reason}"


@pytest.mark.parametrize(
    ("columns", "key", "query"),
    [
        (
            "g STRING, k INT",
            "",
            "SELECT g, k + 1 FROM e WHERE k > 1 UNION ALL SELECT 'x', k FROM e",
        ),
        ("g STRING, x INT", "", "SELECT g, x FROM e CROSS JOIN UNNEST(a) AS t (x)"),
        ("g STRING, k INT", "g", "SELECT g, k FROM e"),
        ("g STRING", "g", "SELECT DISTINCT g FROM e"),
        (
            "n BIGINT, g STRING, k INT, d DECIMAL(38, 2), t TIMESTAMP(3)",
            "g",
            "SELECT COUNT(*), g, SUM(k) FILTER (WHERE k > 1), SUM(d), MAX(ts) FROM e GROUP BY g",
        ),
    ],
)
def test_queries_with_incremental_answers(columns: str, key: str, query: str) -> None:
    assert _reason(columns, key, query) is None


@pytest.mark.parametrize(
    ("columns", "key", "query", "reason"),
    [
        (
            "k INT, g STRING",
            "k",
            "SELECT k, g FROM u",
            "table u (upsert-kafka): its records may change",
        ),
        ("n BIGINT, g STRING", "g", "SELECT COUNT(*), g FROM u GROUP BY g", "the scan of table u"),
        (
            "n BIGINT, g STRING",
            "g",
            "SELECT COUNT(*), g FROM e GROUP BY g HAVING COUNT(*) > 1",
            "it filters groups by their results",
        ),
        ("g STRING, k INT", "g", "SELECT g, AVG(k) FROM e GROUP BY g", "AVG(k) AS"),
        ("g STRING, n BIGINT", "g", "SELECT g, COUNT(DISTINCT k) FROM e GROUP BY g", "COUNT(DIST"),
        ("g STRING, l STRING", "g", "SELECT g, LISTAGG(g) FROM e GROUP BY g", "LISTAGG(g"),
        ("g STRING, f DOUBLE", "g", "SELECT g, SUM(f) FROM e GROUP BY g", "up to a tolerance only"),
        ("g STRING, m DOUBLE", "g", "SELECT g, MAX(f) FROM e GROUP BY g", "may not keep"),
        ("k INT, m STRING", "k", "SELECT k, MIN(g) FROM e GROUP BY k", "may not keep"),
        ("g STRING, d DECIMAL(38, 2)", "g", "SELECT g, SUM(w) FROM e GROUP BY g", "38 digits"),
        ("g STRING, n BIGINT", "g", "SELECT g, COUNT(*) + 1 FROM e GROUP BY g", "column n is neit"),
        ("g VARCHAR(5), n BIGINT", "g", "SELECT g, COUNT(*) FROM e GROUP BY g", "has not the type"),
        ("g STRING, k INT NOT NULL", "g", "SELECT g, SUM(k) FROM e GROUP BY g", "k is NOT NULL"),
        ("t TIMESTAMP(3), n BIGINT", "t", "SELECT ts, COUNT(*) FROM e GROUP BY ts", "without loss"),
        ("g STRING, n BIGINT", "g", "SELECT g, COUNT(*) FROM e GROUP BY g, k", "may depend on"),
        ("g STRING, k INT", "g", "SELECT g, k FROM (VALUES ('x', 1)) AS v (g, k)", "may depend on"),
        (
            "g STRING, k INT",
            "g",
            (
                "SELECT g, k FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY g ORDER BY k) AS r"
                " FROM e) WHERE r = 1"
            ),
            "may depend on",
        ),
    ],
)
def test_queries_without_incremental_answers(
    columns: str, key: str, query: str, reason: str
) -> None:
    assert reason in (_reason(columns, key, query) or "")
