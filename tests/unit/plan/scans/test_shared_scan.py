"""INSERTs of a statement set that share a scan, and the columns that the scan reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from streamtable.api.connect import connect
from streamtable.plan.sink.shared_scan import merged_scan, shared_groups
from streamtable.session import Session

#: Options of an exactly-once sink; `{n}` is its prefix of transactional ids.
EXACTLY = "'sink.delivery-guarantee' = 'exactly-once', 'sink.transactional-id-prefix' = '{n}'"
SINKS = {
    "a": "",
    "b": "",
    "none": "'sink.delivery-guarantee' = 'none'",
    "x": EXACTLY.format(n="x"),
    "y": EXACTLY.format(n="y"),
    "other": EXACTLY.format(n="z") + ", 'properties.linger.ms' = '7'",
    "narrow": "'sink.parallelism' = '1'",
    "python": "'sink.partitioner' = 'a.module:function'",
}
TABLES = """
CREATE TABLE t (id BIGINT, v STRING, w STRING, at TIMESTAMP_LTZ(3) METADATA FROM 'timestamp',
  twice AS id * 2) WITH (
  'connector' = 'kafka', 'topic' = 't', 'properties.bootstrap.servers' = 's:9092',
  'format' = 'json');
CREATE TABLE u (id BIGINT, v STRING, PRIMARY KEY (id) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = 'u', 'properties.bootstrap.servers' = 's:9092',
  'key.format' = 'json', 'value.format' = 'json');
CREATE TABLE counts (id BIGINT, v BIGINT, PRIMARY KEY (id) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = 'c', 'properties.bootstrap.servers' = 's:9092',
  'key.format' = 'json', 'value.format' = 'json');
CREATE TABLE sums (id BIGINT, v BIGINT, PRIMARY KEY (id) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = 's', 'properties.bootstrap.servers' = 's:9092',
  'key.format' = 'json', 'value.format' = 'json');
CREATE TABLE timed (id BIGINT, v STRING, at TIMESTAMP(3), WATERMARK FOR at AS at) WITH (
  'connector' = 'kafka', 'topic' = 'timed', 'properties.bootstrap.servers' = 's:9092',
  'format' = 'json');
CREATE TABLE once (id BIGINT, v BIGINT, PRIMARY KEY (id) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = 'once', 'properties.bootstrap.servers' = 's:9092',
  'key.format' = 'json', 'value.format' = 'json', 'sink.delivery-guarantee' = 'exactly-once',
  'sink.transactional-id-prefix' = 'once');
CREATE TABLE printed (id BIGINT, v STRING) WITH ('connector' = 'print');
""" + "".join(
    f"""
CREATE TABLE {name} (id BIGINT, v STRING) WITH (
  'connector' = 'kafka', 'topic' = '{name}', 'properties.bootstrap.servers' = 's:9092',
  'format' = 'json'{", " + options if options else ""});
"""
    for name, options in SINKS.items()
)

LATEST = "/*+ OPTIONS('scan.startup.mode' = 'latest-offset') */"
TIMED = "TABLE timed, DESCRIPTOR(at)"
MINUTE, HOUR = "INTERVAL '1' MINUTE", "INTERVAL '1' HOUR"
WINDOW = "window_start, window_end"

#: Case -> INSERTs of a set, without INSERT INTO, and the positions of those that share a scan.
GROUPS: dict[str, tuple[list[str], list[tuple[int, ...]]]] = {
    "two": (["a SELECT id, v FROM t", "b SELECT id, w FROM t"], [(0, 1)]),
    "filters and subqueries": (
        [
            "a SELECT x, v FROM (SELECT id + 1 AS x, v FROM t) WHERE x > 3",
            "b SELECT twice, CAST(at AS STRING) FROM t WHERE v LIKE 'a%'",
        ],
        [(0, 1)],
    ),
    "one table twice": (["a SELECT id, v FROM t", "a SELECT id, w FROM t"], [(0, 1)]),
    "one": (["a SELECT id, v FROM t"], []),
    "other tables": (["a SELECT id, v FROM t", "u SELECT id, v FROM u WHERE id > 1"], []),
    "kafka and upsert-kafka": (["a SELECT id, v FROM t", "u SELECT id, v FROM t"], [(0, 1)]),
    "other options": (["a SELECT id, v FROM t", f"b SELECT id, v FROM t {LATEST}"], []),
    "equal options": (
        [f"a SELECT id, v FROM t {LATEST}", f"b SELECT id, v FROM t {LATEST}"],
        [(0, 1)],
    ),
    "guarantees": (
        [f"{name} SELECT id, v FROM t" for name in ("a", "x", "none", "b", "y")],
        [(0, 3), (1, 4)],
    ),
    "producers in transactions": (["x SELECT id, v FROM t", "other SELECT id, v FROM t"], []),
    "steps before the writer": (
        [f"{name} SELECT id, v FROM t" for name in ("a", "narrow", "python")],
        [],
    ),
    "another connector": (
        [f"{name} SELECT id, v FROM t" for name in ("a", "printed", "b")],
        [(0, 2)],
    ),
    "state and none": (
        [
            "a SELECT id, v FROM t",
            "counts SELECT id, COUNT(*) FROM t GROUP BY id",
            "b SELECT id, v FROM t",
            "sums SELECT id, MAX(id) FROM t WHERE v > 'a' GROUP BY id",
        ],
        [(0, 2), (1, 3)],
    ),
    "one and two operators with state": (
        [
            "counts SELECT id, COUNT(*) FROM t GROUP BY id",
            "sums SELECT n, COUNT(*) FROM (SELECT id, COUNT(*) AS n FROM t GROUP BY id) GROUP BY n",
        ],
        [],
    ),
    "a sink that may be rolled back": (
        [
            "counts SELECT id, COUNT(*) FROM t GROUP BY id",
            "sums SELECT id, SUM(id) FROM t GROUP BY id",
            "counts SELECT id, AVG(id) FROM t GROUP BY id",
            "counts SELECT id, COUNT(*) FROM t GROUP BY id HAVING COUNT(*) < 9",
        ],
        [(1, 2, 3)],
    ),
    "exactly-once never is": (
        [
            "once SELECT id, COUNT(*) FROM t GROUP BY id",
            "once SELECT id, SUM(id) FROM t GROUP BY id",
        ],
        [(0, 1)],
    ),
    "windows and groups": (
        [
            f"a SELECT COUNT(*), MAX(v) FROM TUMBLE({TIMED}, {MINUTE}) GROUP BY {WINDOW}",
            "sums SELECT id, COUNT(*) FROM timed GROUP BY id",
            f"b SELECT COUNT(*), MAX(v) FROM HOP({TIMED}, {MINUTE}, {HOUR}) GROUP BY {WINDOW}",
        ],
        [(0, 2)],
    ),
    "joins": (
        [
            "counts SELECT id, COUNT(*) FROM t GROUP BY id",
            "sums SELECT t.id, COUNT(*) FROM t JOIN u ON t.id = u.id GROUP BY t.id",
        ],
        [],
    ),
    "two scans": (
        ["a SELECT id, v FROM t", "b SELECT id, v FROM t UNION ALL SELECT id, w FROM t"],
        [],
    ),
}


def _loaded(text: str) -> Session:
    session = Session()
    session.load(TABLES + text, "job.sql")
    return session


def _inserts(*texts: str) -> str:
    return "".join(f"INSERT INTO {text};\n" for text in texts)


def _set(*texts: str, before: str = "EXECUTE") -> str:
    return f"{before} STATEMENT SET BEGIN {_inserts(*texts)} END;"


@pytest.mark.parametrize(("inserts", "groups"), GROUPS.values(), ids=GROUPS)
def test_inserts_that_share_a_scan(inserts: list[str], groups: list[tuple[int, ...]]) -> None:
    assert shared_groups(_loaded(_set(*inserts)).plans) == groups


def test_only_inserts_of_the_same_set_share_a_scan() -> None:
    two = GROUPS["two"][0]
    assert shared_groups(_loaded(_inserts(*two)).plans) == []
    assert shared_groups(_loaded(_set(*two) + "\n" + _set(*two)).plans) == [(0, 1), (2, 3)]


@pytest.mark.parametrize("key", ["reuse-source-enabled", "reuse-sub-plan-enabled"])
def test_settings_of_flink_disable_shared_scans(key: str) -> None:
    text = f"SET 'table.optimizer.{key}' = 'false'; {_set(*GROUPS['two'][0])}"
    assert shared_groups(_loaded(text).plans) == []


def test_micro_batches_need_no_rollback() -> None:
    text = _set(*GROUPS["a sink that may be rolled back"][0])
    (group,) = shared_groups(_loaded(f"SET 'execution.mode' = 'micro-batch'; {text}").plans)
    assert group == (0, 1, 2, 3)


def test_inserts_with_python_functions_share_no_scan(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(
        "from streamtable.udf import udf\n\n@udf(result_type='STRING')\ndef f(x):\n    return x\n"
    )
    text = (
        f"SET 'python.files' = '{tmp_path}/own.py';"
        "CREATE TEMPORARY FUNCTION f AS 'own.f' LANGUAGE PYTHON;"
    )
    inserts = _set("a SELECT id, f(v) FROM t", "b SELECT id, v FROM t")
    assert shared_groups(_loaded(text + inserts).plans) == []


def test_a_shared_scan_reads_the_columns_of_all_inserts() -> None:
    inserts = _set("a SELECT id, w FROM t", "b SELECT twice, v FROM t WHERE w > 'a'")
    plans = _loaded(inserts).plans
    assert [field.name for field in merged_scan(plans).fields] == ["id", "v", "w"]


def test_explain_names_the_inserts_of_a_query() -> None:
    columns = {"x": "v", "a": "v", "y": "w", "b": "v"}
    inserts = [f"{name} SELECT id, {column} FROM t" for name, column in columns.items()]
    (*_, exactly_once, at_least_once) = _loaded(_set(*inserts, before="EXPLAIN")).printed
    assert exactly_once.splitlines() == [
        "One query writes x, y, a task in one transaction",
        "  Scan t: kafka, t, json, reads (id, v, w)",
    ]
    assert at_least_once.splitlines() == [
        "One query writes a, b",
        "  Scan t: kafka, t, json, reads (id, v)",
    ]


def test_explain_of_a_statement_set_of_the_python_api() -> None:
    with connect() as session:
        session.execute_sql(TABLES)
        inserts = session.create_statement_set()
        assert inserts.explain() == ""
        for text in GROUPS["two"][0]:
            inserts.add_insert_sql(f"INSERT INTO {text}")
        assert "\n\nOne query writes a, b\n" in inserts.explain()
