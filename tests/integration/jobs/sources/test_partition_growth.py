"""Partitions added to an upsert topic: a notice, and the order of keys that move."""

from __future__ import annotations

import json
import time
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from confluent_kafka.admin import AdminClient, NewPartitions
from tests.integration.jobs.support import PATIENCE_S

from streamtable.testing.histories import Change
from streamtable.testing.jobs import BoundedRun
from streamtable.testing.topics import produce_changes, records

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

SCRIPT = """
CREATE TABLE t (k INT, v INT, PRIMARY KEY (k) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${source}',
  'properties.bootstrap.servers' = '${servers}', 'key.format' = 'json', 'value.format' = 'json'
);
CREATE TABLE o (v INT, n BIGINT, sum_k BIGINT, PRIMARY KEY (v) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${source}-out',
  'properties.bootstrap.servers' = '${servers}', 'key.format' = 'json', 'value.format' = 'json'
);
INSERT INTO o SELECT v, COUNT(*), SUM(k) FROM t GROUP BY v;
"""


def _grow(broker: Broker, topic: str, partitions: int) -> None:
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    admin.create_partitions([NewPartitions(topic, partitions)])[topic].result(30)
    deadline = time.monotonic() + PATIENCE_S
    while len(admin.list_topics(topic, timeout=10).topics[topic].partitions) < partitions:
        assert time.monotonic() < deadline


def test_keys_that_change_partitions_keep_their_order(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    """Keys that move to other partitions as the topic grows keep the order of their changes.

    The topic grows twice. From two to three partitions, some keys move to lower partitions.
    """
    source = topic("grown", partitions=2)
    servers = broker.bootstrap_servers
    job = BoundedRun(spark, SCRIPT, tmp_path / "c", {"source": source, "servers": servers})
    held = dict.fromkeys(range(30), 1)
    produce_changes(servers, source, "k", [Change(k, {"v": v}) for k, v in held.items()])
    job()
    assert [line for line in job.notices if "grown" in line] == []
    for partitions, step in ((3, 2), (5, 3)):
        _grow(broker, source, partitions)
        moved = dict.fromkeys(range(0, 30, step), partitions)
        gone = [k for k in moved if k % 4 == 0]
        changes = [Change(k, {"v": 0}) for k in moved]
        changes += [Change(k, {"v": v}) for k, v in moved.items()]
        produce_changes(servers, source, "k", [*changes, *(Change(k, None) for k in gone)])
        held = {k: v for k, v in {**held, **moved}.items() if k not in gone}
        job()
        keys = {v: [k for k, other in held.items() if other == v] for v in held.values()}
        expected = {(v,): {"v": v, "n": len(ks), "sum_k": sum(ks)} for v, ks in keys.items()}
        assert job.rows("o") == expected
    told = [line for line in job.notices if "has grown from" in line]
    assert [line.split("grown ")[1].split(",")[0] for line in told] == [
        "from 2 to 3 partitions",
        "from 3 to 5 partitions",
    ]
    assert f"t: upsert topic '{source}'" in told[0]


COPY = """
CREATE TABLE t (k INT, v INT, PRIMARY KEY (k) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${source}',
  'properties.bootstrap.servers' = '${servers}', 'key.format' = 'json', 'value.format' = 'json'
);
CREATE TABLE o (k INT, v INT, PRIMARY KEY (k) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${source}-out',
  'properties.bootstrap.servers' = '${servers}', 'key.format' = 'json', 'value.format' = 'json'
);
INSERT INTO o SELECT k, v FROM t;
"""


def _places(broker: Broker, topic: str) -> dict[int, set[int]]:
    """Return the partitions that hold the versions of each key."""
    found: dict[int, set[int]] = defaultdict(set)
    for record in records(broker.bootstrap_servers, topic):
        found[json.loads(record.key())["k"]].add(record.partition())
    return found


def test_versions_unread_at_the_growth_may_be_out_of_order(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    """Versions that were unread at the growth may be read in the wrong order.

    Kafka, and so Flink, has no order between partitions. The job reports this, and writes no row
    that the topic does not have.
    """
    source = topic("grown", partitions=2)
    servers = broker.bootstrap_servers
    job = BoundedRun(spark, COPY, tmp_path / "c", {"source": source, "servers": servers})
    produce_changes(servers, source, "k", [Change(k, {"v": 1}) for k in range(40)])
    job()
    produce_changes(servers, source, "k", [Change(k, {"v": 2}) for k in range(40)])
    _grow(broker, source, 3)
    produce_changes(servers, source, "k", [Change(k, {"v": 3}) for k in range(40)])
    job()
    places = _places(broker, source)
    stayed = {k for k in places if len(places[k]) == 1}
    assert 0 < len(stayed) < len(places) == 40
    rows = {key[0]: row["v"] for key, row in job.rows("o").items()}
    assert {k: rows[k] for k in stayed} == dict.fromkeys(stayed, 3)
    assert {rows[k] for k in places if k not in stayed} <= {2, 3}
    told = [line for line in job.notices if "has grown from 2 to 3 partitions" in line]
    assert len(told) == 1
    assert "versions of a row that were unread before may be read in the wrong order" in told[0]
