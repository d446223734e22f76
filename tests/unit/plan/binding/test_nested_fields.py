"""Fields of rows by `row['field']` and by bare name, with the answers of Flink 2.2.1."""

from __future__ import annotations

import pytest

from streamtable.core.errors import Condition, StreamtableError
from streamtable.session import Session

_WITH = (
    "WITH ('connector' = 'kafka', 'topic' = 't', 'properties.bootstrap.servers' = 'b:9092',"
    " 'scan.startup.mode' = 'earliest-offset', 'format' = 'json');"
)
_TABLES = f"""
CREATE TABLE t (
  id INT, a ROW<city STRING, n INT, inner_ ROW<deep STRING, id INT>>, b ROW<n INT, m INT>,
  arr ARRAY<ROW<city STRING, q INT>>
) {_WITH}
CREATE TABLE u (m INT, x ROW<only_x INT>) {_WITH}
CREATE TABLE v (only_v ROW<p INT>, z ROW<city STRING>) {_WITH}
"""


def _columns(query: str) -> list[str]:
    session = Session()
    session.load(f"{_TABLES}{query};", "job.sql")
    (plan,) = session.selects
    return [f"{column.name} {column.type.sql()}" for column in plan.columns]


@pytest.mark.parametrize(
    ("query", "columns"),
    [
        ("SELECT a['city'] FROM t", ["EXPR$0 STRING"]),
        ("SELECT a[1] FROM t", ["EXPR$0 STRING"]),
        ("SELECT a[3]['deep'] FROM t", ["EXPR$0 STRING"]),
        ("SELECT COUNT(*) FROM t GROUP BY a['city']", ["EXPR$0 BIGINT NOT NULL"]),
        ("SELECT city FROM t", ["city STRING"]),
        ("SELECT deep FROM t", ["deep STRING"]),
        ("SELECT t.city FROM t", ["city STRING"]),
        ("SELECT s.city FROM t AS s", ["city STRING"]),
        ("SELECT inner_.deep FROM t", ["deep STRING"]),
        # A column precedes a nested field of the same name.
        ("SELECT id FROM t", ["id INT"]),
        ("SELECT only_x FROM t, u", ["only_x INT"]),
        ("SELECT city FROM (SELECT * FROM t)", ["city STRING"]),
        ("SELECT city, COUNT(*) FROM t GROUP BY city", ["city STRING", "EXPR$1 BIGINT NOT NULL"]),
        ("SELECT x FROM (SELECT 1 AS x, a FROM t) WHERE city = 'x'", ["x INT NOT NULL"]),
    ],
)
def test_fields_that_flink_finds(query: str, columns: list[str]) -> None:
    assert _columns(query) == columns


@pytest.mark.parametrize(
    ("query", "condition", "words"),
    [
        ("SELECT a['nope'] FROM t", Condition.UNKNOWN_COLUMN, "'nope'"),
        ("SELECT a[9] FROM t", Condition.ARGUMENT_MISMATCH, "from 1 to 3"),
        ("SELECT a[0] FROM t", Condition.ARGUMENT_MISMATCH, "from 1 to 3"),
        ("SELECT a[id] FROM t", Condition.ARGUMENT_MISMATCH, "a literal"),
        ("SELECT n FROM t", Condition.AMBIGUOUS_COLUMN, "write a.n"),
        ("SELECT city FROM t, v", Condition.AMBIGUOUS_COLUMN, "'city'"),
        ("SELECT q FROM t", Condition.UNKNOWN_COLUMN, "'q'"),
        ("SELECT CITY FROM t", Condition.UNKNOWN_COLUMN, "'CITY'"),
        ("SELECT deep2 FROM t", Condition.UNKNOWN_COLUMN, "'deep2'"),
    ],
)
def test_fields_that_flink_refuses(query: str, condition: Condition, words: str) -> None:
    with pytest.raises(StreamtableError) as refused:
        _columns(query)
    assert refused.value.condition is condition
    assert words in str(refused.value)
    assert refused.value.at is not None
