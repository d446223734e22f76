"""-0.0 and 0.0 are one group, in whatever batches their rows arrive and leave."""

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

#: The changes of each run, and the number of rows with a zero after it.
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
