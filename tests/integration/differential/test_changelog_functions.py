"""TO_CHANGELOG and FROM_CHANGELOG: the rows of PyFlink 2.3.0, and changes through a topic."""

from __future__ import annotations

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
    from pathlib import Path

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
#: A batch for each row, as Flink reads them.
_TABLES = {
    "v": Recorded(Style.APPEND, "k INT, s STRING", [[(RowKind.INSERT, row)] for row in _ROWS]),
    "c": Recorded(
        Style.APPEND, "op STRING, k INT, s STRING", [[(RowKind.INSERT, r)] for r in _CHANGES]
    ),
    "wrong": Recorded(
        Style.APPEND,
        "op STRING, k INT",
        [[(RowKind.INSERT, row)] for row in (("INSERT", 1), (None, 2))],
    ),
}
_GROUPS = "(SELECT k, COUNT(*) AS n, LAST_VALUE(s) AS s FROM v GROUP BY k)"
#: Recorded from PyFlink 2.3.0.
_ANSWERS: dict[str, list[tuple[str, list[Any]]]] = {
    f"SELECT * FROM TO_CHANGELOG(input => {_GROUPS})": [
        ("+I", ["INSERT", 1, 1, "a"]),
        ("+I", ["INSERT", 2, 1, "b"]),
        ("+I", ["UPDATE_BEFORE", 1, 1, "a"]),
        ("+I", ["UPDATE_AFTER", 1, 2, "c"]),
        ("+I", ["UPDATE_BEFORE", 2, 1, "b"]),
        ("+I", ["UPDATE_AFTER", 2, 2, "d"]),
        ("+I", ["UPDATE_BEFORE", 1, 2, "c"]),
        ("+I", ["UPDATE_AFTER", 1, 3, "e"]),
    ],
    f"SELECT * FROM TO_CHANGELOG(input => {_GROUPS},"
    " op_mapping => MAP['INSERT, UPDATE_AFTER', 'U', 'DELETE', 'D'])": [
        ("+I", ["U", 1, 1, "a"]),
        ("+I", ["U", 2, 1, "b"]),
        ("+I", ["U", 1, 2, "c"]),
        ("+I", ["U", 2, 2, "d"]),
        ("+I", ["U", 1, 3, "e"]),
    ],
    "SELECT * FROM TO_CHANGELOG(TABLE v, DESCRIPTOR(kind))": [
        ("+I", ["INSERT", *row]) for row in _ROWS
    ],
    "SELECT * FROM FROM_CHANGELOG(input => TABLE c)": [
        ("+I", [1, "a"]),
        ("-U", [1, "a"]),
        ("+U", [1, "b"]),
        ("-D", [1, "b"]),
        ("+I", [2, "z"]),
    ],
    "SELECT k, COUNT(*) FROM FROM_CHANGELOG(input => TABLE c) GROUP BY k": [
        ("+I", [1, 1]),
        ("-D", [1, 1]),
        ("+I", [1, 1]),
        ("-D", [1, 1]),
        ("+I", [2, 1]),
    ],
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


def test_rows_are_flinks(spark: SparkSession) -> None:
    cases = [
        Case(sink([column.field for column in planned(query, _TABLES).columns]), query, query)
        for query in _ANSWERS
    ]
    found = Replay(spark, _TABLES, in_memory=True).changes(cases)
    for query, batches in zip(_ANSWERS, found, strict=True):
        rows = [(kind.short, list(row)) for changes in batches for kind, row in changes]
        assert _net(rows) == _net(_ANSWERS[query]), query


def _net(changes: list[tuple[str, list[Any]]]) -> list[tuple[str, list[Any]]]:
    """The changes in order, without a delete and an insert of equal rows in succession."""
    net: list[tuple[str, list[Any]]] = []
    for kind, row in changes:
        if kind == "+I" and net and net[-1] == ("-D", row):
            net.pop()
        else:
            net.append((kind, row))
    return net


def test_an_unknown_code_fails_the_query(spark: SparkSession) -> None:
    query = "SELECT k FROM FROM_CHANGELOG(input => TABLE wrong)"
    case = Case(sink([c.field for c in planned(query, _TABLES).columns]), query, query)
    with pytest.raises(PySparkException, match="FROM_CHANGELOG: invalid code NULL; known: INSERT"):
        Replay(spark, _TABLES, in_memory=True).changes([case])


def test_changes_go_through_a_topic(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    """The folded table equals the query, whose groups come and go."""
    source, servers = topic("v", partitions=2), broker.bootstrap_servers
    run = BoundedRun(spark, _JOB, tmp_path / "c", {"source": source, "servers": servers})
    counts = dict.fromkeys(range(5), 0)
    for size in (7, 5, 9):
        keys = [(size * i * i) % 5 for i in range(size)]
        produce_json(servers, source, [{"k": k, "s": "x"} for k in keys])
        for k in keys:
            counts[k] += 1
        run()  # the changes that the first query writes are read by the next run
        run()
        expected = {(k,): {"k": k, "n": n} for k, n in counts.items() if n % 2}
        assert run.rows("counts") == expected
