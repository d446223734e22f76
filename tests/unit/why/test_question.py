"""Tables and keys are checked, and operators are refused by name, before Spark starts."""

from __future__ import annotations

import pytest

from streamtable.core.errors import StreamtableError
from streamtable.plan.sink.sink import Sink
from streamtable.runtime.why.asked import question
from streamtable.session import Session

_TABLES = """
CREATE TABLE clicks (who STRING, n INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH (
  'connector' = 'kafka', 'topic' = 'c', 'format' = 'json',
  'properties.bootstrap.servers' = 'localhost:9092');
CREATE TABLE totals (who STRING, n INT, PRIMARY KEY (who) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = 't', 'key.format' = 'json', 'value.format' = 'json',
  'properties.bootstrap.servers' = 'localhost:9092');
CREATE TABLE others LIKE totals;
"""
_KEY = '{"who": "Ada"}'


def _plans(*inserts: str, setting: str = "") -> list[Sink]:
    session = Session()
    session.load(f"{setting} {_TABLES} {' '.join(inserts)}", "job.sql")
    return session.plans


def test_all_inserts_into_the_table_are_asked() -> None:
    plans = _plans(
        "INSERT INTO totals SELECT who, SUM(n) FROM clicks GROUP BY who;",
        "INSERT INTO others SELECT who, n FROM clicks;",
        "INSERT INTO totals SELECT who, MAX(n) FROM clicks GROUP BY who;",
    )
    asked = question(plans, "totals", _KEY, 20)
    assert [query.sink for query in asked.queries] == [plans[0], plans[2]]


@pytest.mark.parametrize(
    ("query", "setting", "message"),
    [
        (
            "SELECT who, SUM(n) OVER (PARTITION BY who ORDER BY ts) FROM clicks",
            "",
            "NO_BATCH_ANSWER: table totals has no batch answer",
        ),
        (
            "SELECT who, SUM(n) FROM clicks GROUP BY who",
            "SET 'table.exec.state.ttl' = '1 h';",
            "its state expires",
        ),
        ("SELECT who, CAST(RAND() AS INT) FROM clicks", "", "it reads random numbers"),
    ],
)
def test_queries_without_a_batch_answer(query: str, setting: str, message: str) -> None:
    with pytest.raises(StreamtableError) as caught:
        question(_plans(f"INSERT INTO totals {query};", setting=setting), "totals", _KEY, 20)
    assert message in str(caught.value)


def test_a_table_without_an_insert() -> None:
    plans = _plans("INSERT INTO others SELECT who, n FROM clicks;")
    with pytest.raises(StreamtableError, match=r"a table that the script writes \(others\)"):
        question(plans, "totals", _KEY, 20)
    with pytest.raises(StreamtableError, match=r"\(it has no INSERT\)"):
        question([], "totals", _KEY, 20)
