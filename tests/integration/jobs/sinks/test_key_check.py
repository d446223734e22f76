"""Upsert sinks on a topic that already holds keys: same bytes, other bytes, unreadable keys."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from streamtable.core.errors import Condition, StreamtableError
from streamtable.testing.jobs import BoundedRun
from streamtable.testing.topics import produce, produce_json

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

SCRIPT = """
CREATE TABLE t (k INT, v INT) WITH (
  'connector' = 'kafka', 'topic' = '${source}', 'scan.startup.mode' = 'earliest-offset',
  'properties.bootstrap.servers' = '${servers}', 'format' = 'json'
);
CREATE TABLE o (k INT, v INT, PRIMARY KEY (k) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${out}', 'properties.bootstrap.servers' = '${servers}',
  'key.format' = 'json', 'value.format' = 'json', 'sink.key-check' = '${check}'
);
INSERT INTO o SELECT k, v FROM t;
"""


@pytest.fixture
def names(broker: Broker, topic: Topics) -> dict[str, str]:
    source = topic("rows")
    produce_json(broker.bootstrap_servers, source, [{"k": 1, "v": 2}])
    out = topic("out", partitions=2, config={"cleanup.policy": "compact"})
    return {"source": source, "out": out, "servers": broker.bootstrap_servers, "check": "fail"}


def _run(spark: SparkSession, tmp_path: Path, names: dict[str, str]) -> BoundedRun:
    run = BoundedRun(spark, SCRIPT, tmp_path / "c", names)
    run()
    return run


OTHER_KEYS = {
    "blanks": (b'{"k": 1}', 'it holds the key {"k": 1}, which is written as {"k":1};'),
    "another column": (b'{"id":1}', 'it holds the key {"id":1}, which is written as {"k":null};'),
    "another type": (b'{"k":"1"}', 'it holds the key {"k":"1"}, which is written as {"k":1};'),
    "another format": (b"\x02", "it holds the key 0x02, which does not parse: Illegal character"),
}


@pytest.mark.parametrize("name", OTHER_KEYS)
def test_keys_with_different_bytes_are_refused(
    name: str, spark: SparkSession, broker: Broker, names: dict[str, str], tmp_path: Path
) -> None:
    key, reason = OTHER_KEYS[name]
    produce(broker.bootstrap_servers, names["out"], [(key, b"{}"), (key, None)])
    with pytest.raises(StreamtableError) as refused:
        _run(spark, tmp_path, names)
    assert refused.value.condition is Condition.KEY_BYTES_DIFFER
    assert str(refused.value.at) == "test.sql:6:1"
    assert reason in str(refused.value)
    assert "'sink.key-check' = 'warn' continues" in str(refused.value)


def test_warn_reports_different_keys_and_continues(
    spark: SparkSession, broker: Broker, names: dict[str, str], tmp_path: Path
) -> None:
    produce(broker.bootstrap_servers, names["out"], [(b'{"k": 1}', b'{"k":1,"v":9}')])
    run = _run(spark, tmp_path, names | {"check": "warn"})
    assert [n for n in run.notices if "KEY_BYTES_DIFFER" in n]


def test_off_disables_the_key_check(
    spark: SparkSession, broker: Broker, names: dict[str, str], tmp_path: Path
) -> None:
    produce(broker.bootstrap_servers, names["out"], [(b"\x02", b"{}")])
    run = _run(spark, tmp_path, names | {"check": "off"})
    assert not [n for n in run.notices if "KEY_BYTES_DIFFER" in n]


def test_equal_keys_and_a_single_different_key_pass(
    spark: SparkSession, broker: Broker, names: dict[str, str], tmp_path: Path
) -> None:
    same = [(f'{{"k":{i}}}'.encode(), None) for i in range(50)]
    produce(broker.bootstrap_servers, names["out"], [*same, (b"\x02", None)])
    run = _run(spark, tmp_path, names)
    assert not [n for n in run.notices if "KEY_BYTES_DIFFER" in n]
    # A restart does not check again, because it writes under the keys of its own first run.
    produce(broker.bootstrap_servers, names["out"], [(b'{"k": 1}', None)])
    run()
