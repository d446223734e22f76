"""Constant expressions as arguments that must be known when the query is planned."""

from __future__ import annotations

import pytest

from streamtable.session import Session

_TABLE = """CREATE TABLE t (k INT, v DOUBLE, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'datagen');
"""
_LAG = "SELECT LAG(v, {}) OVER (PARTITION BY k ORDER BY ts) FROM t"
_PERCENTILE = "SELECT PERCENTILE(v, {}) FROM t"

#: Query, constant expression, and the literal with the same plan.
SAME = [
    (_LAG, "CAST(2 AS INT)", "2"),
    (_LAG, "CAST(2.7 AS INT)", "2"),
    (_LAG, "1 + 1", "2"),
    (_LAG, "(3 - 1)", "2"),
    (_LAG, "-(-2)", "2"),
    (_PERCENTILE, "CAST(0.5 AS DOUBLE)", "0.5"),
    (_PERCENTILE, "0.25 + 0.25", "0.50"),
    (_PERCENTILE, "CAST(1 AS DOUBLE) * 0.5", "0.5"),
    (_PERCENTILE, "ARRAY[CAST(0.5 AS DOUBLE), 1]", "ARRAY[0.5, 1]"),
]


def _plan(query: str) -> str:
    session = Session()
    session.load(f"{_TABLE}{query};", "job.sql")
    return session.explain()


@pytest.mark.parametrize(("query", "expression", "literal"), SAME, ids=[e for _, e, _ in SAME])
def test_a_constant_expression_is_planned_like_its_literal(
    query: str, expression: str, literal: str
) -> None:
    assert _plan(query.format(expression)) == _plan(query.format(literal))
