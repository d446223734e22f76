"""-0.0 and 0.0 are one group but two keys, whatever batches insert and delete their rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from streamtable.testing.histories import Change
from streamtable.testing.jobs import BoundedRun
from streamtable.testing.state import state_rows
from streamtable.testing.topics import produce_changes

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

_SOURCE = """
CREATE TABLE t (k INT, d DOUBLE, PRIMARY KEY (k) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${source}',
  'properties.bootstrap.servers' = '${servers}', 'key.format' = 'json', 'value.format' = 'json'
);
"""
_SINK = """
CREATE TABLE {name} (d STRING, n BIGINT, PRIMARY KEY (d) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${{source}}-{name}',
  'properties.bootstrap.servers' = '${{servers}}', 'key.format' = 'json', 'value.format' = 'json'
);
"""
_QUERIES = {
    "counts": "SELECT CAST(d AS STRING), COUNT(*) FROM t GROUP BY d",
    "firsts": "SELECT CAST(d AS STRING), n FROM (SELECT d, ROW_NUMBER() OVER (PARTITION BY d"
    " ORDER BY k) AS n FROM t) WHERE n = 1",
}
_ONE_QUERY = "".join(f"INSERT INTO {name} {query};" for name, query in _QUERIES.items())

#: The changes of each run, and the number of rows with a zero after the run.
_RUNS = [
    ([Change(1, {"d": -0.0}), Change(2, {"d": 0.0}), Change(3, {"d": 0.0})], 3),
    ([Change(4, {"d": -0.0})], 4),
    ([Change(3, None)], 3),
    ([Change(1, None), Change(4, None)], 1),
    ([Change(2, None)], 0),
]


@pytest.mark.parametrize(
    "inserts",
    [
        pytest.param(_ONE_QUERY, id="queries"),
        pytest.param(f"EXECUTE STATEMENT SET BEGIN {_ONE_QUERY} END;", id="set"),
    ],
)
def test_both_zeros_are_one_group(
    inserts: str, spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    source = topic("zeros", partitions=1)
    script = _SOURCE + "".join(_SINK.format(name=name) for name in _QUERIES) + inserts
    names = {"source": source, "servers": broker.bootstrap_servers}
    job = BoundedRun(spark, script, tmp_path / "c", names)
    for changes, zeros in _RUNS:
        produce_changes(broker.bootstrap_servers, source, "k", changes)
        job()
        found = {name: [*job.rows(name).values()] for name in _QUERIES}
        assert found["counts"] == ([{"d": "0.0", "n": zeros}] if zeros else [])
        assert found["firsts"] == ([{"d": "0.0", "n": 1}] if zeros else [])
    for query in (tmp_path / "c").glob("*/state"):
        assert not state_rows(spark, str(query.parent))


_KEYED = """
CREATE TABLE z (d DOUBLE, v INT, PRIMARY KEY (d) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${keyed}',
  'properties.bootstrap.servers' = '${servers}', 'key.format' = 'json', 'value.format' = 'json'
);
CREATE TABLE kept (d DOUBLE, n BIGINT, PRIMARY KEY (d) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${source}-keys',
  'properties.bootstrap.servers' = '${servers}', 'key.format' = 'raw', 'value.format' = 'json',
  'value.fields-include' = 'EXCEPT_KEY'
);
CREATE TABLE keys (d BIGINT, n BIGINT, PRIMARY KEY (d) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${source}-keys',
  'properties.bootstrap.servers' = '${servers}', 'key.format' = 'raw', 'value.format' = 'json',
  'value.fields-include' = 'EXCEPT_KEY'
);
"""
#: The bits of -0.0 as a BIGINT; the bits of 0.0 are 0.
_BITS = -(2**63)
#: A query whose source has a DOUBLE key, and a query whose sink has a DOUBLE key.
_BY_KEY = {
    "sums": "SELECT CAST(d AS STRING), SUM(v) FROM z GROUP BY CAST(d AS STRING)",
    "keys": "SELECT d, k FROM t",
}
#: The changes of t and z in each run, and the rows of each query after the run.
_KEYED_RUNS = [
    (
        [Change(1, {"d": -0.0}), Change(2, {"d": 0.0})],
        [Change(-0.0, {"v": 1}), Change(0.0, {"v": 2})],
        {"sums": {"-0.0": 1, "0.0": 2}, "keys": {_BITS: 1, 0: 2}},
    ),
    (
        [Change(1, None), Change(3, {"d": -0.0})],
        [Change(0.0, None), Change(-0.0, {"v": 5})],
        {"sums": {"-0.0": 5}, "keys": {_BITS: 3, 0: 2}},
    ),
    (
        [Change(2, None), Change(3, None)],
        [Change(-0.0, None)],
        {"sums": {}, "keys": {}},
    ),
]


def test_both_zeros_are_two_keys(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    source, keyed = topic("zeros", partitions=1), topic("keyed", partitions=1)
    sinks = "".join(_SINK.format(name=name) for name in _BY_KEY if name != "keys")
    inserts = "".join(
        f"INSERT INTO {'kept' if name == 'keys' else name} {query};"
        for name, query in _BY_KEY.items()
    )
    names = {"source": source, "keyed": keyed, "servers": broker.bootstrap_servers}
    job = BoundedRun(spark, _SOURCE + _KEYED + sinks + inserts, tmp_path / "c", names)
    for changes, others, rows in _KEYED_RUNS:
        produce_changes(broker.bootstrap_servers, source, "k", changes)
        produce_changes(broker.bootstrap_servers, keyed, "d", others)
        job()
        found = {name: job.rows(name).values() for name in _BY_KEY}
        assert {n: {row["d"]: row["n"] for row in found[n]} for n in found} == rows
    for query in (tmp_path / "c").glob("*/state"):
        assert not state_rows(spark, str(query.parent))
