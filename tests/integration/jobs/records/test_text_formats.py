"""A job from csv to a raw key and a csv value on a real broker, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from streamtable.core.errors import Condition, StreamtableError
from streamtable.testing.jobs import BoundedRun
from streamtable.testing.topics import produce

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

SCRIPT = """
CREATE TABLE views (region STRING, seconds INT) WITH (
  'connector' = 'kafka', 'topic' = '${source}',
  'properties.bootstrap.servers' = '${servers}', 'scan.startup.mode' = 'earliest-offset',
  'format' = 'csv', 'csv.field-delimiter' = ';', 'csv.ignore-parse-errors' = '${ignore}'
);
CREATE TABLE regions (region STRING, n BIGINT, longest INT, PRIMARY KEY (region) NOT ENFORCED)
WITH (
  'connector' = 'upsert-kafka', 'topic' = '${source}-out',
  'properties.bootstrap.servers' = '${servers}',
  'key.format' = 'raw', 'value.format' = 'csv', 'value.csv.null-literal' = '-'
);
CREATE TABLE totals (what STRING, n BIGINT, PRIMARY KEY (what) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${source}-totals',
  'properties.bootstrap.servers' = '${servers}', 'key.format' = 'raw',
  'value.format' = 'raw', 'value.fields-include' = 'EXCEPT_KEY'
);
"""
COUNT = "INSERT INTO regions SELECT region, COUNT(*), MAX(seconds) FROM views GROUP BY region;"
TOTAL = "INSERT INTO totals SELECT 'all', SUM(n) FROM regions GROUP BY 'all';"
WORDS = "".join(
    f"""
CREATE TABLE {table} (word STRING) WITH (
  'connector' = 'kafka', 'topic' = '${{source}}{suffix}', 'format' = 'raw',
  'properties.bootstrap.servers' = '${{servers}}', 'scan.startup.mode' = 'earliest-offset'
);
"""
    for table, suffix in (("words", ""), ("copied", "-copied"))
)
COPY = "INSERT INTO copied SELECT word FROM words;"
COUNT_WORDS = """
INSERT INTO regions
SELECT word, COUNT(*), 0 FROM (SELECT COALESCE(word, 'NULL') AS word FROM copied) GROUP BY word;
"""
LINES = [b"a;1", b'"b;c";2', b"a;7", b"d;x", b"a;b;c"]


def test_csv_and_raw_are_written_and_read_back(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    source = topic("lines")
    produce(broker.bootstrap_servers, source, ((None, line) for line in LINES))
    names = {"source": source, "servers": broker.bootstrap_servers, "ignore": "true"}
    job = BoundedRun(spark, SCRIPT + COUNT, tmp_path / "job", names)
    job()
    assert job.rows("regions") == {
        ("a",): {"region": "a", "n": 2, "longest": 7},
        ("b;c",): {"region": "b;c", "n": 1, "longest": 2},
        ("d",): {"region": "d", "n": 1, "longest": None},
    }
    assert any("1 records" in notice for notice in job.notices), job.notices
    back = BoundedRun(spark, SCRIPT + TOTAL, tmp_path / "totals", names)
    back()
    assert list(back.rows("totals").values()) == [{"what": "all", "n": 4}]


def test_a_null_in_raw_is_written_and_read_back(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    source = topic("words")
    produce(broker.bootstrap_servers, source, [(None, b"a"), (None, None), (None, b"")])
    names = {"source": source, "servers": broker.bootstrap_servers, "ignore": "true"}
    BoundedRun(spark, SCRIPT + WORDS + COPY, tmp_path / "copy", names)()
    back = BoundedRun(spark, SCRIPT + WORDS + COUNT_WORDS, tmp_path / "back", names)
    back()
    assert {key: row["n"] for key, row in back.rows("regions").items()} == {
        ("a",): 1,
        ("",): 1,
        ("NULL",): 1,
    }


def test_an_invalid_csv_line_ends_the_job(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    source = topic("lines")
    produce(broker.bootstrap_servers, source, ((None, line) for line in LINES))
    names = {"source": source, "servers": broker.bootstrap_servers, "ignore": "false"}
    with pytest.raises(StreamtableError) as ended:
        BoundedRun(spark, SCRIPT + COUNT, tmp_path / "job", names)()
    assert ended.value.condition is Condition.RECORD_UNREADABLE
    assert (
        f"topic '{source}' partition 0 offset 3: value is not valid csv:"
        " field 'seconds': 'x' is not a valid INT"
    ) in str(ended.value)
