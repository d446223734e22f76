"""Jobs that call Python functions: scalar, table and pandas functions, CREATE TABLE AS, errors."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pyspark.sql import SparkSession

from streamtable.core.errors import Condition, StreamtableError
from streamtable.devbroker.broker import Broker
from streamtable.runtime.job import RunOptions
from streamtable.session import Session
from streamtable.testing.histories import Change
from streamtable.testing.jobs import BoundedRun
from streamtable.testing.topics import produce_changes, produce_json

if TYPE_CHECKING:
    from tests.conftest import Topics

HELPER = "def mark(times):\n    return '!' * times\n"
MODULE = """
import decimal
from streamtable.udf import udf
from helper_of_greetings import mark

def greet(name: str | None, times: int) -> str | None:
    return None if name is None else f"hello {name}{mark(times)}"

@udf(result_type="DECIMAL(10, 2)", input_types=["DECIMAL(10, 2)"])
def twice(price):
    return None if price is None else price * 2

@udf(result_type="ARRAY<STRING>")
def words(text: str):
    return (text or "").split()
"""
SCRIPT = """
SET 'python.files' = '${folder}';
CREATE FUNCTION greet AS 'greetings_of_a_test:greet' LANGUAGE PYTHON;
CREATE TEMPORARY FUNCTION twice AS 'greetings_of_a_test.twice' LANGUAGE PYTHON;
CREATE TEMPORARY SYSTEM FUNCTION words AS 'greetings_of_a_test:words' LANGUAGE PYTHON;
CREATE TABLE people (id INT, name STRING, price DECIMAL(6, 2)) WITH (
  'connector' = 'kafka', 'topic' = '${people}', 'properties.bootstrap.servers' = '${servers}',
  'scan.startup.mode' = 'earliest-offset', 'format' = 'json');
CREATE TABLE greeted (PRIMARY KEY (id) NOT ENFORCED, note STRING) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${greeted}', 'key.format' = 'json',
  'properties.bootstrap.servers' = '${servers}', 'value.format' = 'json')
AS SELECT COALESCE(id, 0) AS id, greet(name, id + 1) AS greeting, twice(price) AS price,
  CARDINALITY(words(name)) AS n
FROM people WHERE greet(name, 0) <> 'hello nobody' OR name IS NULL;
SHOW TABLES;
"""


def test_functions_in_a_job(
    broker: Broker, topic: Topics, spark: SparkSession, tmp_path: Path
) -> None:
    (tmp_path / "helper_of_greetings.py").write_text(HELPER)
    (tmp_path / "greetings_of_a_test.py").write_text(MODULE)
    people, greeted = topic("people"), topic("greeted", config={"cleanup.policy": "compact"})
    rows = [
        {"id": 1, "name": "Ann Lee", "price": 1.25},
        {"id": 2, "name": None, "price": None},
        {"id": 3, "name": "nobody", "price": 7},
    ]
    produce_json(broker.bootstrap_servers, people, rows)
    variables = {
        "folder": str(tmp_path),
        "people": people,
        "greeted": greeted,
        "servers": broker.bootstrap_servers,
    }
    run = BoundedRun(spark, SCRIPT, tmp_path / "checkpoint", variables)
    run()
    found = {
        key[0]: (row["greeting"], str(row["price"]), row["n"], row["note"])
        for key, row in run.rows("greeted").items()
    }
    assert found == {
        1: ("hello Ann Lee!!", "2.5", 2, None),
        2: (None, "None", 0, None),
    }


LIVE_MODULE = """
from streamtable.udf import udf

def shout(name: str, times: int) -> str:
    return name.upper() + "!" * times

@udf(result_type="BIGINT", input_types=["BIGINT"], func_type="pandas")
def doubled(number):
    assert number.notna().all() and number.index.tolist() == list(range(len(number)))
    return number * 2

@udf(result_type="ROW<low INT, high INT>", func_type="pandas")
def around(number):
    import pandas as pd
    assert number.notna().all()
    return pd.DataFrame({"low": number - 1, "high": number + 1})

@udf(result_type="INT", func_type="pandas")
def high(pair):
    return pair["high"] | 0  # of whole numbers only
"""
LIVE_SCRIPT = """
SET 'python.files' = '${folder}';
CREATE FUNCTION shout AS 'live_of_a_test:shout' LANGUAGE PYTHON;
CREATE FUNCTION doubled AS 'live_of_a_test:doubled' LANGUAGE PYTHON;
CREATE FUNCTION around AS 'live_of_a_test:around' LANGUAGE PYTHON;
CREATE FUNCTION high AS 'live_of_a_test:high' LANGUAGE PYTHON;
CREATE TABLE people (k INT, name STRING NOT NULL, n BIGINT NOT NULL, PRIMARY KEY (k) NOT ENFORCED)
WITH ('connector' = 'upsert-kafka', 'topic' = '${people}', 'key.format' = 'json',
  'properties.bootstrap.servers' = '${servers}', 'value.format' = 'json');
CREATE TABLE loud (k BIGINT, name STRING NOT NULL, n BIGINT, part BIGINT NOT NULL, high INT,
  PRIMARY KEY (k) NOT ENFORCED)
WITH ('connector' = 'upsert-kafka', 'topic' = '${loud}', 'key.format' = 'json',
  'properties.bootstrap.servers' = '${servers}', 'value.format' = 'json');
INSERT INTO loud
SELECT k, shout(shout(CONCAT(name, ',(`'), 0), k), doubled(n),
  100 / doubled(12 / COALESCE(LEAST(n, 6), 0)), high(around(CHAR_LENGTH(name)))
FROM people;
"""


def test_deletes_by_key_call_no_function(
    broker: Broker, topic: Topics, spark: SparkSession, tmp_path: Path
) -> None:
    folder = tmp_path / "functions"
    folder.mkdir()
    (folder / "live_of_a_test.py").write_text(LIVE_MODULE)
    people, loud = (
        topic("people", partitions=1),
        topic("loud", config={"cleanup.policy": "compact"}),
    )
    large = 2**60 + 1
    rows = {1: ("ann", 3), 2: ("bob", 2), 3: ("eve", large), 4: ("joe", 1)}
    added = [Change(k, {"name": name, "n": n}) for k, (name, n) in rows.items()]
    variables = {
        "folder": str(folder),
        "people": people,
        "loud": loud,
        "servers": broker.bootstrap_servers,
    }
    run = BoundedRun(spark, LIVE_SCRIPT, tmp_path / "c", variables)
    first = ("ANN,(`!", 6, 12, 4)
    third = ("EVE,(`!!!", 2 * large, 25, 4)
    # One batch with upserts and deletes, and one batch with deletes only.
    produce_changes(
        broker.bootstrap_servers, people, "k", [Change(9, None), *added, Change(2, None)]
    )
    run()
    produce_changes(broker.bootstrap_servers, people, "k", [Change(4, None)])
    run()
    found = {k[0]: tuple(row.values())[1:] for k, row in run.rows("loud").items()}
    assert found == {1: first, 3: third}


TABLE_MODULE = """
from streamtable.udf import udtf

@udtf(result_types=["STRING", "INT"], input_types="STRING")
def words(text):
    for word in (text or "").split():
        yield word, len(word)

class Halves:
    def eval(self, number: int):
        return None if number is None or number % 2 else number // 2

halves = udtf(Halves(), result_types="BIGINT")

@udtf(result_types="ROW<low INT, high INT>")
def wrong(number):
    return [(number,)]
"""
TABLE_CALLS = """
SET 'python.files' = '${folder}';
CREATE FUNCTION words AS 'tables_of_a_test:words' LANGUAGE PYTHON;
CREATE FUNCTION halves AS 'tables_of_a_test:halves' LANGUAGE PYTHON;
CREATE FUNCTION wrong AS 'tables_of_a_test:wrong' LANGUAGE PYTHON;
CREATE TABLE lines (id INT, text STRING) WITH (
  'connector' = 'kafka', 'topic' = '${lines}', 'properties.bootstrap.servers' = '${servers}',
  'scan.startup.mode' = 'earliest-offset', 'format' = 'json');
CREATE TABLE totals (word STRING, n BIGINT, PRIMARY KEY (word) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${totals}', 'key.format' = 'json',
  'properties.bootstrap.servers' = '${servers}', 'value.format' = 'json');
"""


def test_table_functions_over_a_topic(
    broker: Broker, topic: Topics, spark: SparkSession, tmp_path: Path
) -> None:
    (tmp_path / "tables_of_a_test.py").write_text(TABLE_MODULE)
    lines, totals = topic("lines"), topic("totals", config={"cleanup.policy": "compact"})
    texts = ["a bb a", None, "", "bb ccc"]
    produce_json(
        broker.bootstrap_servers,
        lines,
        [{"id": i, "text": text} for i, text in enumerate(texts)],
    )
    script = f"""{TABLE_CALLS}
    INSERT INTO totals SELECT COALESCE(w.word, 'none'), SUM(COALESCE(w.size, 100))
    FROM lines AS l LEFT JOIN LATERAL TABLE(words(l.text)) AS w (word, size) ON w.size < 3
    WHERE l.id >= 0 GROUP BY COALESCE(w.word, 'none');"""
    variables = {
        "folder": str(tmp_path),
        "lines": lines,
        "totals": totals,
        "servers": broker.bootstrap_servers,
    }
    run = BoundedRun(spark, script, tmp_path / "checkpoint", variables)
    run()
    found = {key[0]: row["n"] for key, row in run.rows("totals").items()}
    assert found == {"a": 2, "bb": 4, "none": 200}


def _shown(query: str, spark: SparkSession, folder: Path) -> list[str]:
    (folder / "tables_of_a_test.py").write_text(TABLE_MODULE)
    session = Session()
    given = {"folder": str(folder), "lines": "l", "totals": "t", "servers": "127.0.0.1:1"}
    session.load(f"{TABLE_CALLS}{query};", "calls.sql", given)
    shown: list[str] = []
    session.run(RunOptions(bounded=True), lambda _: None, spark, show=shown.append)
    return shown


def test_rows_of_table_functions(spark: SparkSession, tmp_path: Path) -> None:
    query = """SELECT CONCAT('<', CAST(n AS STRING), ',', CAST(f0 AS STRING), ',', word, '>') AS x
    FROM (VALUES (2), (3), (8)) AS v (n), LATERAL TABLE(halves(n)),
      TABLE(words('one two')) AS w (word, size)"""
    shown = "".join(_shown(query, spark, tmp_path))
    assert sorted(re.findall("<.*?>", shown)) == [
        "<2,1,one>",
        "<2,1,two>",
        "<8,4,one>",
        "<8,4,two>",
    ]


def test_a_table_function_with_too_few_values(spark: SparkSession, tmp_path: Path) -> None:
    query = "SELECT low FROM (VALUES (2)) AS v (n), LATERAL TABLE(wrong(n)) AS t (low, high)"
    with pytest.raises(StreamtableError, match="a row has 1 values, not 2") as e:
        _shown(query, spark, tmp_path)
    assert e.value.condition is Condition.FUNCTION_FAILED


FAILING = """
def parsed(text: str | None) -> int:
    return _number(text)

def _number(text):
    return int(text)  # the line that fails
"""
CALLS = """
SET 'python.files' = '${folder}';
CREATE FUNCTION parsed AS 'failing_of_a_test:parsed' LANGUAGE PYTHON;
SELECT parsed(name) AS n FROM (VALUES ('1'), ('one')) AS t(name);
"""


def test_a_function_that_raises(spark: SparkSession, tmp_path: Path) -> None:
    module = tmp_path / "failing_of_a_test.py"
    module.write_text(FAILING)
    session = Session()
    session.load(CALLS, "calls.sql", {"folder": str(tmp_path)})
    with pytest.raises(StreamtableError) as failed:
        session.run(RunOptions(bounded=True), lambda _: None, spark, show=lambda _: None)
    assert failed.value.condition is Condition.FUNCTION_FAILED
    message = str(failed.value)
    assert f"Python function 'parsed' failed at {module}:6: ValueError: invalid literal" in message


VECTORS = """
from __future__ import annotations

import pandas as pd
from streamtable.udf import udf

@udf(result_type="BIGINT", input_types=["BIGINT", "BIGINT"], func_type="pandas")
def added(a: pd.Series, b: pd.Series) -> pd.Series:
    assert isinstance(a, pd.Series) and isinstance(b, pd.Series)
    return a + b

@udf(result_type="STRING", func_type="pandas")
def joined(*texts):
    return texts[0].str.cat(texts[1:], sep="-")

@udf(result_type="ROW<low INT, high INT>", func_type="pandas")
def around(number):
    return pd.DataFrame({"low": number - 1, "high": number + 1})

@udf(result_type="INT", func_type="pandas")
def inside(pair):
    assert isinstance(pair, pd.DataFrame)
    return pair["high"] - pair["low"]

@udf(result_type="INT", func_type="pandas")
def shortened(number):
    return number[1:]

@udf(result_type="INT", func_type="pandas")
def failing(number):
    raise ValueError("no such number")  # the line that fails

def each(number: int) -> int:
    return number * 10
"""
OF_VECTORS = ("added", "joined", "around", "inside", "shortened", "failing", "each")


def _of_vectors(query: str, spark: SparkSession, folder: Path) -> str:
    (folder / "vectors_of_a_test.py").write_text(VECTORS)
    created = "".join(
        f"CREATE FUNCTION {name} AS 'vectors_of_a_test:{name}' LANGUAGE PYTHON;"
        for name in OF_VECTORS
    )
    session = Session()
    session.load(f"SET 'python.files' = '{folder}'; {created} {query};", "calls.sql")
    shown: list[str] = []
    session.run(RunOptions(bounded=True), lambda _: None, spark, show=shown.append)
    return "".join(shown)


def test_pandas_functions(spark: SparkSession, tmp_path: Path) -> None:
    query = """SELECT CONCAT('<', CAST(added(n, each(n)) AS STRING), ',', joined(t, 'x', t), ',',
      CAST(inside(around(n)) AS STRING), ',', CAST(around(n).low AS STRING),
      ',', CAST(each(added(n, 1)) AS STRING), '>') AS x
    FROM (VALUES (2, 'a'), (3, 'b'), (8, 'c')) AS v (n, t) WHERE added(n, 1) <> 4"""
    shown = _of_vectors(query, spark, tmp_path)
    assert sorted(re.findall("<.*?>", shown)) == ["<22,a-x-a,2,1,30>", "<88,c-x-c,2,7,90>"]


def test_nulls_in_pandas_functions(spark: SparkSession, tmp_path: Path) -> None:
    query = """SELECT CONCAT('<', COALESCE(CAST(added(n, 1) AS STRING), 'none'), '>') AS x
    FROM (VALUES (CAST(NULL AS INT)), (3)) AS v (n)"""
    shown = _of_vectors(query, spark, tmp_path)
    assert sorted(re.findall("<.*?>", shown)) == ["<4>", "<none>"]


@pytest.mark.parametrize(
    ("name", "condition", "message"),
    [
        ("failing", Condition.FUNCTION_FAILED, "ValueError: no such number"),
        ("shortened", Condition.JOB_FAILED, "number of output rows"),
    ],
)
def test_pandas_functions_that_fail(
    name: str, condition: Condition, message: str, spark: SparkSession, tmp_path: Path
) -> None:
    query = f"SELECT {name}(n) AS n FROM (VALUES (1), (2)) AS v (n)"
    with pytest.raises(StreamtableError, match=message) as failed:
        _of_vectors(query, spark, tmp_path)
    assert failed.value.condition is condition
