"""Rollback of topics to earlier end offsets, on a real broker."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewPartitions

from streamtable.connector_api.endpoints import sink_of
from streamtable.connector_api.sink import Rollback
from streamtable.connectors.kafka.cluster.admin import KafkaAdmin, RollbackResult
from streamtable.core.errors import StreamtableError
from streamtable.core.settings.declared import SETTINGS
from streamtable.core.settings.execution import ExecutionMode
from streamtable.jvm.bridge import Bridge
from streamtable.jvm.install.compile import operators_jar
from streamtable.jvm.install.jars import connector_jars
from streamtable.jvm.install.tools import java_tool, pyspark_jars
from streamtable.operators.context import LoweringContext
from streamtable.runtime.endpoints import sink_facts
from streamtable.session import Session
from streamtable.testing.topics import produce, records

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

#: More records than the first piece of the backward scan has.
MANY = 12_000


#: Heap of a JVM that rolls back a topic, and bytes of a record; four records fill a megabyte.
HEAP_MB = 96
LARGE = 256 * 1024

SMALL_HEAP = """
import io.streamtable.kafka.rollback.SinkRollback;
import java.util.Map;

class SmallHeap {
  public static void main(String[] given) {
    Map<String, Long> ends = Map.of(given[1] + ":0", Long.valueOf(given[2]));
    Map<String, String> properties = Map.of("bootstrap.servers", given[0]);
    SinkRollback.run(properties, 120_000, given[1], ends, true);
  }
}
"""

#: A filter over a changelog with updates and deletes.
SCRIPT = """
CREATE TABLE o (k INT, v INT, PRIMARY KEY (k) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '{topic}', 'properties.bootstrap.servers' = '{servers}',
  'key.format' = 'json', 'value.format' = 'json'
);
INSERT INTO o SELECT k, v FROM o WHERE v > 1;
"""


@pytest.fixture(scope="module")
def bridge(spark: SparkSession) -> Bridge:
    return Bridge(spark)


def _admin(bridge: Bridge, broker: Broker, timeout_ms: int = 60_000) -> KafkaAdmin:
    return KafkaAdmin(bridge, {"bootstrap.servers": broker.bootstrap_servers}, timeout_ms)


def _records(servers: str, topic: str) -> list[tuple[int, bytes, bytes | None, object]]:
    """Return partition, key, value and headers of all records, in order within a partition."""
    found = records(servers, topic)
    return [(r.partition(), r.key(), r.value(), r.headers()) for r in found]


def _folded(servers: str, topic: str) -> dict[tuple[int, bytes], tuple[bytes, object]]:
    rows = {(p, key): (value, headers) for p, key, value, headers in _records(servers, topic)}
    return {key: (row[0], row[1]) for key, row in rows.items() if row[0] is not None}


def test_a_rollback_restores_every_key(bridge: Bridge, broker: Broker, topic: Topics) -> None:
    servers, name = broker.bootstrap_servers, topic("taken-back", partitions=2)
    admin = _admin(bridge, broker)
    producer = Producer({"bootstrap.servers": servers})
    producer.produce(name, b"old", b"first", 0, headers=[("h", b"1"), ("h", None)])
    producer.flush()
    produce(servers, name, ((b"k%d" % (i % 50), b"%d" % i) for i in range(MANY)), partition=0)
    produce(servers, name, [(b"gone", b"1"), (b"gone", None), (b"kept", b"1")], partition=1)
    wanted, ends = _folded(servers, name), admin.end_offsets([name])

    changes = [(b"old", b"2"), (b"k1", None), (b"k2", b"x"), (b"k2", b"y"), (b"new", b"1")]
    produce(servers, name, changes, partition=0)
    produce(servers, name, [(b"gone", b"2"), (b"kept", None), (b"new", b"1")], partition=1)
    assert _folded(servers, name) != wanted
    before = len(_records(servers, name))
    with pytest.raises(StreamtableError, match="could not be rolled back within 0 s"):
        _admin(bridge, broker, timeout_ms=0).roll_back(name, ends, whole=True)
    assert len(_records(servers, name)) == before

    assert admin.roll_back(name, ends, whole=True) == RollbackResult(7, 0)
    assert _folded(servers, name) == wanted
    # Another start repeats the rollback, over a part or all of the records of this rollback.
    produce(servers, name, [(b"new", b"2"), (b"k3", b"z")], partition=0)
    assert admin.roll_back(name, ends, whole=True) == RollbackResult(8, 0)
    assert _folded(servers, name) == wanted
    assert admin.roll_back(name, admin.end_offsets([name]), whole=True) == RollbackResult(0, 0)


def test_more_keys_than_fit_into_one_round(bridge: Bridge, broker: Broker, topic: Topics) -> None:
    """A key that returns in the second round gets the record of the first round again."""
    servers, name, keys = broker.bootstrap_servers, topic("rounds"), range(101_000)
    admin = _admin(bridge, broker)
    produce(servers, name, ((b"%d" % k, b"1") for k in keys))
    wanted, ends = _folded(servers, name), admin.end_offsets([name])
    produce(servers, name, ((b"%d" % k, b"2") for k in (*keys, 0, 1, 2)))
    assert admin.roll_back(name, ends, whole=True) == RollbackResult(len(keys) + 3, 0)
    assert _folded(servers, name) == wanted


def test_old_records_need_not_fit_into_the_heap(
    bridge: Bridge, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    """The old records have more bytes than the heap of the JVM that rolls them back."""
    servers, name, keys = broker.bootstrap_servers, topic("large"), range(HEAP_MB * 4)
    admin = _admin(bridge, broker)
    produce(servers, name, ((b"%d" % k, b"%d" % k + bytes(LARGE)) for k in keys))
    ends = admin.end_offsets([name])
    produce(servers, name, ((b"%d" % k, b"2") for k in keys))

    program = tmp_path / "SmallHeap.java"
    program.write_text(SMALL_HEAP)
    java = [java_tool("java"), f"-Xmx{HEAP_MB}m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]
    jars = [operators_jar(), *connector_jars(), pyspark_jars() / "*"]
    subprocess.run(
        [*java, "-cp", ":".join(map(str, jars)), program, servers, name, str(ends[name, 0])],
        check=True,
    )
    folded = {key: value for (_, key), (value, _) in _folded(servers, name).items()}
    assert folded == {b"%d" % k: b"%d" % k + bytes(LARGE) for k in keys}


def test_keys_whose_old_record_may_be_compacted_stay(
    bridge: Bridge, broker: Broker, topic: Topics
) -> None:
    servers, name = broker.bootstrap_servers, topic("left")
    admin = _admin(bridge, broker)
    produce(servers, name, [(b"a", b"1"), (b"gone", None)])
    ends = admin.end_offsets([name])
    produce(servers, name, [(b"a", b"2"), (b"gone", b"2"), (b"unknown", b"1")])

    assert admin.roll_back(name, ends, whole=False) == RollbackResult(2, 1)
    folded = {key: value for (_, key), (value, _) in _folded(servers, name).items()}
    assert folded == {b"a": b"1", b"unknown": b"1"}


def test_a_rollback_does_not_wait_for_deleted_records(
    bridge: Bridge, broker: Broker, topic: Topics
) -> None:
    servers, name = broker.bootstrap_servers, topic("deleted")
    admin = _admin(bridge, broker)
    produce(servers, name, [(b"a", b"1")])
    ends = admin.end_offsets([name])
    produce(servers, name, [(b"a", b"2"), (b"b", b"2")])
    client = AdminClient({"bootstrap.servers": servers})
    for future in client.delete_records([TopicPartition(name, 0, 2)]).values():
        future.result()

    assert admin.roll_back(name, ends, whole=True) == RollbackResult(1, 0)
    assert not {message[1:3] for message in _records(servers, name)} - {(b"b", b"2"), (b"b", None)}


def test_a_rollback_requires_an_unchanged_topic(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    servers, name = broker.bootstrap_servers, topic("sink")
    told: list[str] = []
    sink = _sink(spark, SCRIPT.format(topic=name, servers=servers), tmp_path, told)
    commits = tmp_path / "commits"
    commits.mkdir()
    (commits / "4").touch()
    sink.before_start(ExecutionMode.REAL_TIME)
    sink.after_stop()
    kept = tmp_path / "sinks" / "4"
    as_it_was = kept.read_text()
    assert sink.pending

    def written_then_started() -> list[str]:
        produce(servers, name, [(b"a", b"1")])
        told.clear()
        sink.before_start(ExecutionMode.MICRO_BATCH)
        return told

    assert "rolled 1 keys of topic" in written_then_started()[0]
    assert not _folded(servers, name)
    # No rollback after a micro-batch that was committed since: its records repeat as they were.
    (commits / "5").touch()
    assert written_then_started() == []
    (commits / "5").unlink()
    kept.write_text(as_it_was.replace('{"topic":"', '{"topic":"another'))
    assert written_then_started() == []
    kept.write_text(as_it_was)
    (tmp_path / "sinks" / "shared").touch()
    assert (
        f"stay in the topic, because topic '{name}' has another writer"
        in (written_then_started()[0])
    )
    (tmp_path / "sinks" / "shared").unlink()
    client = AdminClient({"bootstrap.servers": servers})
    client.create_partitions([NewPartitions(name, 2)])[name].result()
    assert "has new partitions" in written_then_started()[0]
    assert _folded(servers, name) == {(0, b"a"): (b"1", None)}
    sink.settled()
    assert written_then_started() == []
    assert not sink.pending


def _sink(spark: SparkSession, script: str, directory: Path, told: list[str]) -> Rollback:
    session = Session()
    session.load(script, "job.sql")
    context = LoweringContext(spark, Bridge(spark), SETTINGS.read({}, "test"))
    plans = {"o": session.plans[0]}
    facts = sink_facts(plans, lambda _: "job", lambda _: directory)["o"]
    rollback = sink_of(plans["o"].table).rollback(facts, context, told.append, keeps=True)
    assert rollback is not None
    return rollback
