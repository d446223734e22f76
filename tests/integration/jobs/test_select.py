"""SELECT statements: their results, in the form of Flink's SQL client."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from streamtable.core.errors import Condition, StreamtableError
from streamtable.runtime.job import RunOptions
from streamtable.session import Session
from streamtable.testing.histories import Change
from streamtable.testing.topics import produce_changes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

TABLE = """
CREATE TABLE t (k INT, g STRING, v INT, PRIMARY KEY (k) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${t}',
  'properties.bootstrap.servers' = '${servers}',
  'key.format' = 'json', 'value.format' = 'json'
);
"""


def _shown(
    spark: SparkSession, script: str, variables: dict[str, str], *, bounded: bool = True
) -> list[str]:
    session = Session()
    session.load(script, "select.sql", variables)
    lines: list[str] = []
    session.run(RunOptions(bounded=bounded), lambda _: None, spark, show=lines.append)
    return lines


def test_changes_and_rows_of_a_query(spark: SparkSession, broker: Broker, topic: Topics) -> None:
    names = {"t": topic("t"), "servers": broker.bootstrap_servers}
    history = [("a", 1), ("b", 2), ("a", 4)]
    changes = [Change(k, {"g": g, "v": v}) for k, (g, v) in enumerate(history)]
    produce_changes(names["servers"], names["t"], "k", [*changes, Change(1, None)])
    small = (
        "SET 'execution.micro-batch.max-records' = '2';"
        "SET 'table.display.max-column-width' = '6';" + TABLE
    )
    query = "SELECT g, SUM(v) AS s FROM t WHERE v > 0 GROUP BY g;"
    lines = _shown(spark, small + query, names)
    rule = "+----+--------+-------------+"
    assert lines[:3] == [rule, "| op |      g |           s |", rule]
    assert sorted(lines[3:-2]) == [
        "| +I |      a |           1 |",
        "| +I |      b |           2 |",
        "| +U |      a |           5 |",
        "| -D |      b |           2 |",
        "| -U |      a |           1 |",
    ]
    assert lines[-2:] == [rule, "Received a total of 5 rows"]

    by_hint = query.replace("FROM t", "FROM t /*+ OPTIONS('topic' = '${t}') */")
    elsewhere = small.replace("'${t}'", "'nowhere'")
    table = _shown(
        spark, "SET 'sql-client.execution.result-mode' = 'table';" + elsewhere + by_hint, names
    )
    rule = "+--------+-------------+"
    rows = [rule, "|      g |           s |", rule, "|      a |           5 |", rule]
    assert table == [*rows, "Received a total of 1 row"]
    # A job in batch mode ends by itself, and its tableau shows no changes.
    batch = "SET 'execution.runtime-mode' = 'batch';" + small + query
    assert _shown(spark, batch, names, bounded=False) == table


def test_values_are_shown_as_flink_shows_them(spark: SparkSession) -> None:
    """The values are recorded from Flink 2.2. A query that ends by itself needs no `--bounded`."""
    script = """
    SELECT X'0AFF' AS a, MAP['a', 1] AS d, ROW(1, 'a') AS e, ARRAY['x', NULL] AS g, TRUE AS h,
      CAST(1e10 AS DOUBLE) AS i, TIMESTAMP '2020-01-01 00:00:00.120' AS j;
    """
    lines = _shown(spark, script, {}, bounded=False)
    cells = [cell.strip() for cell in lines[3].strip("|").split("|")]
    assert cells == [
        "+I",
        "x'0aff'",
        "{a=1}",
        "(1, a)",
        "[x, NULL]",
        "TRUE",
        "1.0E10",
        "2020-01-01 00:00:00.120",
    ]
    assert lines[-1] == "Received a total of 1 row"


@pytest.mark.parametrize(
    ("script", "message"),
    [
        (TABLE + "SELECT * FROM t; SELECT * FROM t;", "SELECT after an unbounded statement"),
        (
            "SET 'sql-client.execution.result-mode' = 'table';" + TABLE + "SELECT * FROM t;",
            "'sql-client.execution.result-mode' = 'table' for an unbounded query",
        ),
        (
            "SET 'execution.mode' = 'real-time';" + TABLE + "SELECT * FROM t;",
            "a SELECT statement in real-time mode",
        ),
    ],
)
def test_unsupported_select_statements_are_refused(
    spark: SparkSession, script: str, message: str, tmp_path: Path
) -> None:
    with pytest.raises(StreamtableError) as refused:
        _shown(spark, script, {"t": "t", "servers": f"{tmp_path}:1"}, bounded=False)
    assert refused.value.condition is Condition.NOT_YET
    assert message in str(refused.value)
