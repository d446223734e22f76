"""Rows of the Python API, in a Spark session of the caller."""

from __future__ import annotations

import datetime
import functools
import math
import time
from typing import TYPE_CHECKING

import pytest

import streamtable
from streamtable.core.changelog import RowKind
from streamtable.testing.histories import Change
from streamtable.testing.topics import produce_changes

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

QUERY = "SELECT g, SUM(v) AS s FROM (VALUES ('a', 1), ('b', 2), ('a', 3)) AS t(g, v) GROUP BY g"


def test_rows_of_a_query(spark: SparkSession, capsys: pytest.CaptureFixture[str]) -> None:
    before = spark.conf.getAll
    with streamtable.connect(spark) as session:
        table = session.sql_query(QUERY)
        assert sorted(table.execute().collect()) == [("a", 4), ("b", 2)]
        rows = sorted(table.to_dataframe().collect())
        assert rows == [("a", 4), ("b", 2)]
        assert table.to_dataframe().dtypes == [("g", "string"), ("s", "int")]
        assert sorted(table.to_changelog().collect()) == [("+I", "a", 4), ("+I", "b", 2)]
        arrow = table.to_arrow().sort_by("g")
        assert arrow.to_pydict() == {"g": ["a", "b"], "s": [4, 2]}
        session.execute_sql(QUERY).print()
        printed = capsys.readouterr().out.splitlines()
        assert printed[1] == "| op |                              g |           s |"
        assert printed[-1] == "Received a total of 2 rows"
        # A call does not run the plans of an earlier call.
        assert list(session.execute_sql("SELECT 1 AS a").collect()) == [(1,)]

        session.register_function("twice", lambda n: 2 * n, "BIGINT", "BIGINT")
        frame = session.from_dataframe(spark.range(3))
        doubled = session.sql_query(f"SELECT twice(id) AS n FROM {frame}")
        assert sorted(doubled.execute().collect()) == [(0,), (2,), (4,)]
    assert spark.conf.getAll == before
    assert spark.range(3).count() == 3


def test_functions_of_a_program(spark: SparkSession) -> None:
    """Functions may be objects or closures of the same code, and may replace one another."""

    def made(factor: float) -> Callable[[float], float]:
        def times(x: float) -> float:
            return x * factor

        return times

    class Scaled:
        def __call__(self, n: int) -> float:
            return n * 2.5

    with streamtable.connect(spark) as session:
        session.execute_sql("CREATE DATABASE a; CREATE DATABASE b")
        session.register_function("a.f", made(10.0))
        session.register_function("b.f", made(100.0))
        session.register_function("part", functools.partial(made(7.0)))
        session.register_function("scaled", Scaled())
        session.register_function("root", functools.partial(math.pow, 4.0), "DOUBLE", "DOUBLE")
        session.execute_sql("USE a")
        session.execute_sql("CREATE TEMPORARY VIEW v AS SELECT f(CAST(1 AS DOUBLE)) AS x")
        session.register_function("a.g", made(3.0))
        old = session.sql_query("SELECT g(CAST(1 AS DOUBLE)) AS x")
        session.register_function("a.g", made(4.0), "FLOAT")
        session.execute_sql("USE b")
        session.execute_sql("CREATE TEMPORARY VIEW v AS SELECT f(CAST(1 AS DOUBLE)) AS x")
        rows = session.sql_query(
            "SELECT l.x AS l, r.x AS r FROM a.v AS l CROSS JOIN b.v AS r"
        ).to_dataframe()
        assert rows.collect() == [(10.0, 100.0)]
        session.execute_sql("USE `default_database`")
        rows = session.sql_query(
            "SELECT part(CAST(2 AS DOUBLE)) AS p, scaled(2) AS s, root(CAST(2 AS DOUBLE)) AS r"
        ).to_dataframe()
        assert rows.collect() == [(14.0, 5.0, 16.0)]
        assert old.to_dataframe().collect() == [(3.0,)]


def test_instants_in_a_repeated_hour(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """The instants stay distinct although the clock of the process goes from 3:00 back to 2:00."""
    first = datetime.datetime(2025, 10, 26, 0, 30, tzinfo=datetime.UTC)
    millis = [int(first.timestamp() * 1000) + hour * 3_600_000 for hour in (0, 1)]
    values = f"(VALUES (CAST({millis[0]} AS BIGINT)), (CAST({millis[1]} AS BIGINT))) AS v (n)"
    query = (
        f"SELECT TO_TIMESTAMP_LTZ(n, 3) AS t, ARRAY[ROW(TO_TIMESTAMP_LTZ(n, 3))] AS a FROM {values}"
    )
    with monkeypatch.context() as local:
        local.setenv("TZ", "Europe/Berlin")
        time.tzset()
        try:
            with streamtable.connect(spark) as session:
                table = session.sql_query(query)
                for frame in (table.to_dataframe(), table.to_changelog()):
                    shown = frame.selectExpr("unix_millis(t)", "unix_millis(a[0].`EXPR$0`)")
                    assert sorted(shown.collect()) == [(n, n) for n in millis]
                assert sorted(table.to_arrow()["t"].cast("int64").to_pylist()) == millis
        finally:
            local.undo()
            time.tzset()


def test_values_of_every_type(spark: SparkSession) -> None:
    session = streamtable.connect(spark, table_local_time_zone="Asia/Tokyo")
    (row,) = session.execute_sql(
        "SELECT ROW(1, 'a') AS r, MAP['k', ARRAY[1, 2]] AS m, X'0aff' AS b, TIME '10:00:01' AS t,"
        " DATE '2020-01-02' AS d, TIMESTAMP '2020-01-01 00:00:00.12' AS ts, 1.50 AS n,"
        " TO_TIMESTAMP_LTZ(0, 3) AS z, CAST(NULL AS INT) AS i, 1 AS i"
    ).collect()
    assert row.r[1] == "a"
    assert row.m == {"k": [1, 2]}
    assert row.b == b"\x0a\xff"
    assert row.t == datetime.time(10, 0, 1)
    assert row.d == datetime.date(2020, 1, 2)
    assert row.ts == datetime.datetime(2020, 1, 1, 0, 0, 0, 120_000)
    assert str(row.n) == "1.50"
    assert row.z == datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
    assert row[8:] == (None, 1)
    table = session.sql_query("SELECT ARRAY[ROW(1, 'a')] AS r, MAP['k', 1] AS m, 1 AS i, 2 AS i")
    assert table.to_dataframe().columns == ["r", "m", "i", "i0"]
    assert table.to_arrow().to_pylist()[0]["m"] == [("k", 1)]
    with pytest.raises(streamtable.StreamtableError, match=r"NOT_YET.*CAST to STRING"):
        session.sql_query("SELECT INTERVAL '1' MONTH AS i").to_arrow()


def test_changes_of_a_topic(spark: SparkSession, broker: Broker, topic: Topics) -> None:
    name = topic("t")
    history = [Change(1, {"v": 1}), Change(2, {"v": 5}), Change(1, {"v": 3}), Change(2, None)]
    produce_changes(broker.bootstrap_servers, name, "k", history)
    with streamtable.connect(spark, **{"execution.micro-batch.max-records": 1}) as session:
        names = {"topic": name, "servers": broker.bootstrap_servers}
        session.execute_sql(
            "CREATE TABLE t (k INT, v INT, PRIMARY KEY (k) NOT ENFORCED) WITH ("
            "  'connector' = 'upsert-kafka', 'topic' = '${topic}', 'key.format' = 'json',"
            "  'properties.bootstrap.servers' = '${servers}', 'value.format' = 'json')",
            names,
        )
        table = session.table("t")
        assert table.to_dataframe().collect() == [(1, 3)]
        changes = [tuple(row) for row in table.to_changelog().collect()]
        assert changes == [
            ("+I", 1, 1),
            ("+I", 2, 5),
            ("-U", 1, 1),
            ("+U", 1, 3),
            ("-D", 2, 5),
        ]
        # The query is unbounded, and stops when the loop over its rows is left.
        seen = []
        for row in table.execute().collect():
            seen.append((row.kind, row.v))
            if row.kind is RowKind.DELETE:
                break
        assert seen[-1] == (RowKind.DELETE, 5)
        unbounded = session.execute_sql("SELECT * FROM t")
        with pytest.raises(streamtable.StreamtableError, match=r"INVALID_CALL.*unbounded"):
            unbounded.to_arrow()
        session.execute_sql("SET 'execution.runtime-mode' = 'batch'")
        assert session.execute_sql("SELECT * FROM t").to_arrow().to_pylist() == [{"k": 1, "v": 3}]
        session.execute_sql("CREATE VIEW gone AS SELECT * FROM t /*+ OPTIONS('topic'='gone') */")
        with pytest.raises(streamtable.StreamtableError, match="TOPIC_MISSING"):
            session.table("gone").to_dataframe()
