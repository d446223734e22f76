"""TO_CHANGELOG, FROM_CHANGELOG and APPROX_COUNT_DISTINCT: Flink's rows, and changes in a topic."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors import PySparkException

from streamtable.core.changelog import RowKind
from streamtable.testing.cases import Case
from streamtable.testing.jobs import BoundedRun
from streamtable.testing.planned import planned, sink
from streamtable.testing.replay import Replay
from streamtable.testing.replayed import Recorded, Style
from streamtable.testing.topics import produce_json

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

_ROWS = [(1, "a"), (2, "b"), (1, "c"), (2, "d"), (1, "e")]
_CHANGES = [
    ("INSERT", 1, "a"),
    ("UPDATE_BEFORE", 1, "a"),
    ("UPDATE_AFTER", 1, "b"),
    ("DELETE", 1, "b"),
    ("INSERT", 2, "z"),
]
_PAIRS = [(1, "a"), (1, "b"), (2, "a"), (1, "a"), (2, None), (1, "c")]
#: Tables v and c have one batch per row, because Flink reads rows one by one.
_TABLES = {
    "v": Recorded(Style.APPEND, "k INT, s STRING", [[(RowKind.INSERT, row)] for row in _ROWS]),
    "c": Recorded(
        Style.APPEND, "op STRING, k INT, s STRING", [[(RowKind.INSERT, r)] for r in _CHANGES]
    ),
    "d": Recorded(
        Style.APPEND,
        "k INT, s STRING",
        [[(RowKind.INSERT, (k, s)) for k, s in _PAIRS]],
    ),
    "wrong": Recorded(
        Style.APPEND,
        "op STRING, k INT",
        [[(RowKind.INSERT, row)] for row in (("INSERT", 1), (None, 2))],
    ),
}
#: Recorded answers of PyFlink 2.3.0, and of Flink 2.2 in batch mode.
_RECORD = Path(__file__).parents[2] / "compat" / "elsewhere" / "answers.json"
_ANSWERS: dict[str, list[list[Any]]] = {
    query: rows
    for answers in json.loads(_RECORD.read_text(encoding="utf-8")).values()
    for query, rows in answers.items()
}
_JOB = """
CREATE TABLE v (k INT, s STRING) WITH ('connector' = 'kafka', 'topic' = '${source}',
  'scan.startup.mode' = 'earliest-offset', 'format' = 'json',
  'properties.bootstrap.servers' = '${servers}');
CREATE TABLE changes (op STRING, k INT, n BIGINT) WITH ('connector' = 'kafka',
  'topic' = '${source}-changes', 'key.format' = 'json', 'key.fields' = 'k',
  'scan.startup.mode' = 'earliest-offset', 'value.format' = 'json',
  'properties.bootstrap.servers' = '${servers}');
CREATE TABLE counts (k INT, n BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${source}-counts', 'key.format' = 'json',
  'value.format' = 'json', 'properties.bootstrap.servers' = '${servers}');
CREATE VIEW odd AS SELECT k, COUNT(*) AS n FROM v GROUP BY k HAVING MOD(COUNT(*), 2) = 1;
INSERT INTO changes SELECT * FROM TO_CHANGELOG(input => TABLE odd);
INSERT INTO counts SELECT k, n FROM FROM_CHANGELOG(input => TABLE changes);
"""


def test_rows_equal_flinks(spark: SparkSession) -> None:
    cases = [
        Case(sink([column.field for column in planned(query, _TABLES).columns]), query, query)
        for query in _ANSWERS
    ]
    found = Replay(spark, _TABLES, in_memory=True).changes(cases)
    for query, batches in zip(_ANSWERS, found, strict=True):
        rows = [[kind.short, *row] for changes in batches for kind, row in changes]
        assert rows == _ANSWERS[query], query


def test_an_unknown_code_fails_the_query(spark: SparkSession) -> None:
    query = "SELECT k FROM FROM_CHANGELOG(input => TABLE wrong)"
    case = Case(sink([c.field for c in planned(query, _TABLES).columns]), query, query)
    with pytest.raises(PySparkException, match="FROM_CHANGELOG: invalid code NULL; known: INSERT"):
        Replay(spark, _TABLES, in_memory=True).changes([case])


def test_changes_are_written_to_and_read_from_a_topic(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    """The folded table equals the query, whose groups are inserted and deleted."""
    source, servers = topic("v", partitions=2), broker.bootstrap_servers
    run = BoundedRun(spark, _JOB, tmp_path / "c", {"source": source, "servers": servers})
    counts = dict.fromkeys(range(5), 0)
    for size in (7, 5, 9):
        keys = [(size * i * i) % 5 for i in range(size)]
        produce_json(servers, source, [{"k": k, "s": "x"} for k in keys])
        for k in keys:
            counts[k] += 1
        run()  # the next run reads the changes that the first query writes
        run()
        expected = {(k,): {"k": k, "n": n} for k, n in counts.items() if n % 2}
        assert run.rows("counts") == expected


def test_changes_of_separate_records_pass_a_filter(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    """A filter handles the rows of an update as separate records, without a materializer.

    The rows of the updates are interleaved and divided between two batches.
    """
    source, servers = topic("changes", partitions=1), broker.bootstrap_servers
    script = """
    SET 'table.exec.sink.upsert-materialize' = 'NONE';
    CREATE TABLE changes (op STRING, k INT, v INT) WITH ('connector' = 'kafka',
      'topic' = '${source}', 'scan.startup.mode' = 'earliest-offset', 'format' = 'json',
      'properties.bootstrap.servers' = '${servers}');
    CREATE TABLE great (k INT, v INT, PRIMARY KEY (k) NOT ENFORCED) WITH (
      'connector' = 'upsert-kafka', 'topic' = '${source}-great', 'key.format' = 'json',
      'value.format' = 'json', 'properties.bootstrap.servers' = '${servers}');
    INSERT INTO great SELECT k, v FROM FROM_CHANGELOG(input => TABLE changes) WHERE v > 5;
    """
    run = BoundedRun(spark, script, tmp_path / "c", {"source": source, "servers": servers})
    batches = (
        ([("INSERT", 1, 7), ("INSERT", 2, 8), ("INSERT", 3, 1)], {1: 7, 2: 8}),
        ([("UPDATE_BEFORE", 1, 7), ("UPDATE_BEFORE", 2, 8), ("UPDATE_BEFORE", 3, 1)], {}),
        ([("UPDATE_AFTER", 2, 9), ("UPDATE_AFTER", 1, 2), ("UPDATE_AFTER", 3, 6)], {2: 9, 3: 6}),
    )
    for changes, expected in batches:
        produce_json(servers, source, [{"op": op, "k": k, "v": v} for op, k, v in changes])
        run()
        assert {key: row["v"] for (key,), row in run.rows("great").items()} == expected
