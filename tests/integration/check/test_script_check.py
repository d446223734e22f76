"""`streamtable check` of a SQL script against a real broker."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner
from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient

from streamtable.cli.check import command
from streamtable.testing.topics import produce

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

pytestmark = pytest.mark.usefixtures("spark")

_SCRIPT = """
CREATE TABLE clicks (
  who INT, at TIMESTAMP(3), WATERMARK FOR at AS at - INTERVAL '5' SECOND
) WITH (
  'connector' = 'kafka', 'topic' = '${clicks}', 'scan.startup.mode' = 'earliest-offset',
  'properties.bootstrap.servers' = '${servers}', 'format' = 'json'
);
CREATE TABLE people (id INT, name STRING, PRIMARY KEY (id) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${people}',
  'properties.bootstrap.servers' = '${servers}', 'key.format' = 'json', 'value.format' = 'json'
);
CREATE TABLE counted (who INT, n BIGINT, PRIMARY KEY (who) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${out}-counted',
  'properties.bootstrap.servers' = '${servers}', 'key.format' = 'json', 'value.format' = 'json'
);
CREATE TABLE windowed (who INT, t TIMESTAMP(3), n BIGINT) WITH (
  'connector' = 'kafka', 'topic' = '${out}-windowed',
  'properties.bootstrap.servers' = '${servers}', 'format' = 'json'
);
CREATE TABLE named (name STRING, n BIGINT, PRIMARY KEY (name) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${out}-named',
  'properties.bootstrap.servers' = '${servers}', 'key.format' = 'json', 'value.format' = 'json'
);
INSERT INTO counted SELECT who, COUNT(*) FROM clicks GROUP BY who;
INSERT INTO windowed SELECT who, window_start, COUNT(*)
FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(at), INTERVAL '10' SECOND))
GROUP BY who, window_start, window_end;
INSERT INTO named SELECT name, COUNT(*) FROM people GROUP BY name;
"""


def _check(
    tmp_path: Path, script: str, variables: dict[str, str], *more: str
) -> tuple[int, list[dict[str, Any]]]:
    file = tmp_path / "job.sql"
    file.write_text(script)
    arguments = [str(file), "--json", *more]
    for name, value in variables.items():
        arguments += ["--var", f"{name}={value}"]
    result = CliRunner().invoke(command, arguments, catch_exceptions=False)
    return result.exit_code, json.loads(result.stdout)


def _texts(found: list[dict[str, Any]], severity: str, check: str) -> list[str]:
    return [f["text"] for f in found if f["severity"] == severity and f["check"] == check]


def _at(second: int) -> str:
    return f"2026-03-01 00:{second // 60:02d}:{second % 60:02d}"


def test_findings_of_a_valid_script(broker: Broker, topic: Topics, tmp_path: Path) -> None:
    """The check reports topics to create, retention, tombstones, late rows and a hot key.

    The check changes nothing.
    """
    servers = broker.bootstrap_servers
    names = {
        "servers": servers,
        "clicks": topic("clicks", partitions=2, config={"retention.ms": "3600000"}),
        "people": topic("people", config={"cleanup.policy": "delete"}),
        "out": "never-made-by-check",
    }
    ordered = [{"who": 7 if i % 2 else i, "at": _at(i)} for i in range(300)]
    rows = [*ordered, {"who": 1, "at": _at(100)}]
    produce(servers, names["clicks"], ((None, json.dumps(row).encode()) for row in rows), 0)
    produce(servers, names["people"], [(b'{"id":1}', b'{"id":1,"name":"x"}'), (b'{"id":1}', None)])
    code, found = _check(tmp_path, _SCRIPT, names)
    assert code == 0, found
    assert not [f for f in found if f["severity"] == "error"]
    assert len(_texts(found, "ok", "creation")) == 3
    assert any("deletes records after 1 h" in t for t in _texts(found, "warning", "topic")), found
    assert any("disappears without a tombstone" in t for t in _texts(found, "warning", "topic"))
    (late,) = _texts(found, "warning", "event time")
    assert late == "0.3% of 301 sampled rows are late: rows are up to 199 s out of order"
    assert any("the same (who), (7,)" in t for t in _texts(found, "warning", "hot key")), found
    assert _texts(found, "ok", "mode") or _texts(found, "warning", "mode")
    (empty,) = [t for t in _texts(found, "warning", "topic") if "are empty and hold" in t]
    assert names["clicks"] in empty
    existing = AdminClient({"bootstrap.servers": servers}).list_topics(timeout=30).topics
    assert not [name for name in existing if name.startswith("never-made-by-check")]
    # The sample wrote no records to the topic.
    consumer = Consumer({"bootstrap.servers": servers, "group.id": "none"})
    ends = [
        consumer.get_watermark_offsets(TopicPartition(names["clicks"], p), timeout=30)[1]
        for p in range(2)
    ]
    consumer.close()
    assert sum(ends) == 301


def test_every_error_is_reported(broker: Broker, topic: Topics, tmp_path: Path) -> None:
    """A missing topic does not hide an unreachable cluster."""
    names = {"servers": broker.bootstrap_servers, "clicks": "not-there", "out": topic("out")}
    script = _SCRIPT.replace(
        "'upsert-kafka', 'topic' = '${people}',\n  'properties.bootstrap.servers' = '${servers}'",
        "'upsert-kafka', 'topic' = 'p',\n  'properties.bootstrap.servers' = '127.0.0.1:1'",
    )
    code, found = _check(tmp_path, script, names)
    assert code == 1
    errors = {(f["table"], f["text"].partition(":")[0]) for f in found if f["severity"] == "error"}
    assert errors == {("clicks", "TOPIC_MISSING"), ("people", "BROKER_UNREACHABLE")}
    (missing,) = [f for f in found if f["text"].startswith("TOPIC_MISSING")]
    assert missing["line"] == 2
    assert "correct the option 'topic'" in missing["fix"]


def test_a_record_that_does_not_parse_is_an_error(
    broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    names = {
        "servers": broker.bootstrap_servers,
        "clicks": topic("clicks"),
        "people": topic("people", config={"cleanup.policy": "compact"}),
        "out": topic("out"),
    }
    produce(names["servers"], names["clicks"], [(None, b"{broken")])
    code, found = _check(tmp_path, _SCRIPT, names)
    assert code == 1
    errors = [f for f in found if f["severity"] == "error"]
    assert {f["check"] for f in errors} == {"sample"}
    assert all(names["clicks"] in f["text"] for f in errors), errors
    code, found = _check(tmp_path, _SCRIPT, names, "--no-samples")
    assert code == 0, found


def test_errors_of_the_script_are_findings(tmp_path: Path) -> None:
    script = "CREATE TABLE t (a INT) WITH ('connector' = 'kafkka');\nINSERT INTO t SELECT 1;\n"
    code, found = _check(tmp_path, script, {})
    assert code == 1
    assert [(f["severity"], f["check"], f["line"]) for f in found] == [("error", "script", 1)]


def test_existing_keys_in_other_bytes_are_an_error(
    broker: Broker, topic: Topics, tmp_path: Path, spark: SparkSession
) -> None:
    """The text output has one line per finding, with place, table and fix, and a summary."""
    del spark
    out = topic("out")
    produce(broker.bootstrap_servers, out, [(b"7", b'{"id":7,"n":1}')])
    script = f"""
CREATE TABLE o (id INT, n INT, PRIMARY KEY (id) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '{out}',
  'properties.bootstrap.servers' = '{broker.bootstrap_servers}',
  'key.format' = 'json', 'value.format' = 'json'
);
INSERT INTO o VALUES (1, 2);
"""
    file = tmp_path / "job.sql"
    file.write_text(script)
    result = CliRunner().invoke(command, [str(file)], catch_exceptions=False)
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    assert lines[-1] == f"{file}: 1 error(s), 1 warning(s)"
    (error,) = (line for line in lines if line.startswith("error"))
    assert error.startswith(f"error   {file}:2:1: o, access: KEY_BYTES_DIFFER")
    assert "Fix: use the key format and columns that wrote them" in error
    (warning,) = (line for line in lines if line.startswith("warning"))
    assert "cleanup.policy=delete" in warning
