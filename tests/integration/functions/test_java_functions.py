"""Functions in Java: signatures, values and failures, as PyFlink 2.2.1 answers them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from streamtable.core.errors import Condition, StreamtableError
from streamtable.runtime.job import RunOptions
from streamtable.session import Session
from streamtable.testing.jobs import BoundedRun
from streamtable.testing.topics import produce_json

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

JOB = """
CREATE FUNCTION opened AS 'com.example.Scalars$Opened' LANGUAGE JAVA;
CREATE FUNCTION overloaded AS 'com.example.Scalars$Overloaded';
CREATE TABLE people (id INT, name STRING) WITH (
  'connector' = 'kafka', 'topic' = '${people}', 'properties.bootstrap.servers' = '${servers}',
  'scan.startup.mode' = 'earliest-offset', 'format' = 'json');
CREATE TABLE greeted (id INT, greeting STRING, opened STRING, PRIMARY KEY (id) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${greeted}', 'key.format' = 'json',
  'properties.bootstrap.servers' = '${servers}', 'value.format' = 'json');
INSERT INTO greeted SELECT id, overloaded(name), opened() FROM people;
"""
FUNCTIONS = "".join(
    f"CREATE TEMPORARY FUNCTION {name} AS 'com.example.Scalars${name}';\n"
    for name in ("Overloaded", "Values", "Hinted", "ClassOf", "Words", "Letters")
).replace("FUNCTION Values", "FUNCTION OfValues")
VIEWS = """
CREATE TEMPORARY VIEW v AS SELECT * FROM (VALUES (1, CAST(2 AS BIGINT), CAST(3 AS SMALLINT),
  CAST(1.5 AS DECIMAL(4, 2)), CAST(2.5 AS DOUBLE), 'abc', CAST(4 AS TINYINT)))
  AS x (i, l, s, d, db, st, ti);
CREATE TEMPORARY VIEW n AS SELECT NULLIF(i, 1) AS i, NULLIF(st, 'abc') AS st, NULLIF(d, 1.5) AS d
  FROM v;
"""
#: Recorded from PyFlink 2.2.1.
ANSWERS = {
    "Overloaded(i)": "Integer 1",
    "Overloaded(l)": "Long 2",
    "Overloaded(s)": "Double 3.0",
    "Overloaded(d)": "Double 1.5",
    "Overloaded(st)": "String abc",
    "Overloaded(ti)": "Double 4.0",
    "Overloaded(NULL)": "Double null",
    "Overloaded(CAST(NULL AS INT))": "Integer null",
    "Overloaded('a', 1, 2)": "String a and [1, 2]",
    "Overloaded('a', s)": "String a and [3]",
    "Overloaded(TRUE, i)": "1",
    "Overloaded(TRUE, FALSE, i, l)": "3",
    "OfValues(d, d)": "3.000",
    "OfValues(i, d)": "2.500",
    "OfValues(db, d)": "4.000",
    "OfValues(i).s": "1",
    "CAST(OfValues(i).t AS STRING)": "1970-01-01 00:00:01.000",
    "OfValues(ROW(1, 'x'))": "+I[1, x] a=1",
    "CAST(OfValues(ARRAY[1, 2]) AS STRING)": "[NULL, 2]",
    "CAST(OfValues(MAP['a', 1]) AS STRING)": "{a=1}",
    "CAST(OfValues(ARRAY['x', 'y'], 1) AS STRING)": "[x, y]",
    "CAST(OfValues(TIMESTAMP '2020-01-01 00:00:00') AS DATE)": "2020-01-02",
    "CAST(OfValues(X'0102') AS STRING)": "\x01",
    "Hinted(1, 2)": "3",
    "Hinted(l, i)": "3",
    "Hinted()": "FALSE",
    "Hinted(s, s)": "6",
    "ClassOf(i)": "Integer",
    "ClassOf(d)": "BigDecimal",
    "ClassOf(ARRAY[1, 2])": "Integer[]",
    "ClassOf(ARRAY[ARRAY['a']])": "String[][]",
    "ClassOf(ROW(1, 'a'))": "Row",
    "ClassOf(MAP['a', 1])": "HashMap",
    "ClassOf(DATE '2020-01-01')": "LocalDate",
    "ClassOf(TIMESTAMP '2020-01-01 00:00:00')": "LocalDateTime",
    "ClassOf(TO_TIMESTAMP_LTZ(0, 3))": "Instant",
    "ClassOf(TIME '10:00:00')": "LocalTime",
    "ClassOf(X'01')": "byte[]",
    "ClassOf(INTERVAL '1' DAY)": "Duration",
    "ClassOf(INTERVAL '1' MONTH)": "Period",
}


def rows(spark: SparkSession, script: str) -> list[list[str]]:
    """Run a script with one SELECT; return the cells of its rows, sorted."""
    session = Session()
    session.load(f"SET 'table.local-time-zone' = 'UTC';\n{script}", "calls.sql")
    shown: list[str] = []
    session.run(RunOptions(bounded=True), lambda _: None, spark, show=shown.append)
    lines = [line.split("|") for text in shown for line in text.splitlines() if "|" in line]
    return sorted([cell.strip() for cell in line[1:-1]] for line in lines[1:])


def test_results_equal_flink(spark: SparkSession, add_jars: str) -> None:
    calls = ", ".join(f"CAST({call} AS STRING) AS c{i}" for i, call in enumerate(ANSWERS))
    script = f"{add_jars}{FUNCTIONS}{VIEWS}SELECT {calls} FROM v;"
    (found,) = rows(spark, script)
    assert dict(zip(ANSWERS, found[-len(ANSWERS) :], strict=True)) == ANSWERS


def test_table_functions(spark: SparkSession, add_jars: str) -> None:
    script = f"""{add_jars}{FUNCTIONS}{VIEWS}
    SELECT st, w.word, w.size, l.letter FROM v, LATERAL TABLE(Words('hello big')) AS w (word, size)
      LEFT JOIN LATERAL TABLE(Letters(st, 'b')) AS l (letter) ON TRUE;"""
    found = [row[-4:] for row in rows(spark, script)]
    assert found == [
        ["abc", "big", "3", "a"],
        ["abc", "big", "3", "c"],
        ["abc", "hello", "5", "a"],
        ["abc", "hello", "5", "c"],
    ]


@pytest.mark.parametrize("mode", ["micro-batch", "real-time"])
def test_a_job_over_topics(
    broker: Broker, topic: Topics, spark: SparkSession, tmp_path: Path, add_jars: str, mode: str
) -> None:
    """A task opens a function before its first row, and a restarted job continues."""
    people, greeted = topic("people"), topic("greeted", config={"cleanup.policy": "compact"})
    servers = broker.bootstrap_servers
    variables = {"people": people, "greeted": greeted, "servers": servers}
    run = BoundedRun(spark, add_jars + JOB, tmp_path / "checkpoint", variables)
    for number in (1, 2):
        produce_json(servers, people, [{"id": number, "name": f"n{number}"}])
        run.until(lambda: len(run.rows("greeted")) == number, {"execution.mode": mode})  # noqa: B023
    found = {key[0]: (row["greeting"], row["opened"]) for key, row in run.rows("greeted").items()}
    # A restart reads the first row again if it was not committed.
    assert found[1] == ("String n1", "call 1")
    assert found[2] in {("String n2", "call 1"), ("String n2", "call 2")}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("Overloaded(DATE '2020-01-01')", "found (DATE NOT NULL)"),
        ("Overloaded(TRUE, NULLIF(i, 1))", "(BOOLEAN NOT NULL, INT NOT NULL)"),
    ],
)
def test_no_signature_fits(add_jars: str, call: str, message: str) -> None:
    with pytest.raises(StreamtableError) as refused:
        Session().load(f"{add_jars}{FUNCTIONS}{VIEWS}SELECT {call} FROM v;", "calls.sql")
    assert refused.value.condition is Condition.ARGUMENT_MISMATCH
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("com.example.Nothing", "no jar of the script has its class"),
        ("com.example.Scalars$Unnamed", "it has no public method 'eval'"),
        ("com.example.Scalars$Unhinted", "eval(BigDecimal): class java.math.BigDecimal"),
        ("com.example.Scalars", "it is not a subclass of ScalarFunction or TableFunction"),
    ],
)
def test_unusable_classes(add_jars: str, name: str, message: str) -> None:
    with pytest.raises(StreamtableError) as refused:
        Session().load(f"{add_jars}CREATE TEMPORARY FUNCTION f AS '{name}';", "calls.sql")
    assert refused.value.condition is Condition.FUNCTION_UNUSABLE
    assert message in str(refused.value)


def test_a_missing_flink_api_is_reported(functions_jar: Path) -> None:
    create = f"CREATE FUNCTION f AS 'com.example.Scalars$Hinted' USING JAR '{functions_jar}';"
    session = Session()
    session.load(create, "calls.sql")
    with pytest.raises(StreamtableError) as refused:
        session.load("SELECT f(1, 2);", "call.sql")
    message = str(refused.value)
    assert "needs the class org.apache.flink.table.functions.ScalarFunction" in message
    assert "org.apache.flink:flink-table-common" in message


def test_a_failing_function(spark: SparkSession, add_jars: str) -> None:
    script = f"""{add_jars}CREATE FUNCTION failing AS 'com.example.Scalars$Failing' LANGUAGE JAVA;
    SELECT failing(t) AS t FROM (VALUES ('this')) AS v (t);"""
    with pytest.raises(StreamtableError) as failed:
        rows(spark, script)
    assert failed.value.condition is Condition.FUNCTION_FAILED
    message = str(failed.value)
    assert "Java function 'failing' failed at com.example.Scalars$Failing(Scalars.java:" in message
    assert "java.lang.IllegalStateException: cannot take this" in message
