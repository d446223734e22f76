"""The sink's writer and the admin calls, on a real broker."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka import ConsumerGroupTopicPartitions, TopicPartition
from confluent_kafka.admin import AdminClient
from py4j.clientserver import JavaClient
from py4j.protocol import Py4JJavaError
from pyspark.sql.streaming.readwriter import DataStreamWriter
from tests.integration.jobs.support import PATIENCE_S

from streamtable.connectors.kafka.cluster.admin import KafkaAdmin
from streamtable.core.errors import Condition, StreamtableError
from streamtable.devbroker.broker import free_port
from streamtable.jvm.bridge import Bridge
from streamtable.jvm.streaming.counters import COUNTED_IN, COUNTED_OUT
from streamtable.testing.topics import records

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

NAMES = ("recordsOut", "bytesOut", "recordsLost")
SECRET = "hush-hush"  # noqa: S105 - must not show in messages
LOGIN = (
    "org.apache.kafka.common.security.plain.PlainLoginModule required"
    f" username='u' password='{SECRET}';"
)


@pytest.fixture
def admin(spark: SparkSession) -> Any:
    java: Any = spark._jvm
    return java.io.streamtable.kafka.admin.KafkaAdmin


class Sink:
    """Write rows of (k, v, n) with a KafkaWriter, in one micro-batch."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.spark = spark
        self.folder = folder
        java: Any = spark._jvm
        names = spark.sparkContext._gateway.new_array(java.java.lang.String, len(NAMES))
        for at, name in enumerate(NAMES):
            names[at] = name
        self.counters = java.io.streamtable.metrics.Counters.register(spark._jsc.sc(), names)
        self.java = java.io.streamtable.kafka.write.KafkaWriter

    def write(
        self, writer: Any, rows: list[tuple[str | None, str | None, int]], *more: str
    ) -> None:
        source = str(self.folder / "in")
        self.spark.createDataFrame(rows, "k STRING, v STRING, n INT").coalesce(1).write.parquet(
            source
        )
        stream = self.spark.readStream.schema("k STRING, v STRING, n INT").parquet(source)
        frame = stream.selectExpr("CAST(k AS BINARY)", "CAST(v AS BINARY)", *more)
        query: DataStreamWriter = frame.writeStream.outputMode("update").trigger(availableNow=True)
        query._jwrite = query._jwrite.foreach(writer)
        running = query.option("checkpointLocation", str(self.folder / "checkpoint")).start()
        running.awaitTermination()

    def counts(self) -> dict[str, int]:
        return dict(self.counters.values())


@pytest.fixture
def sink(spark: SparkSession, tmp_path: Path) -> Sink:
    return Sink(spark, tmp_path)


def test_records_headers_timestamps_partitions(broker, topic, sink):
    name = topic("w", partitions=2)
    writer = sink.java.create(
        name, {"bootstrap.servers": broker.bootstrap_servers}, "AT_LEAST_ONCE", 0, 0, sink.counters
    ).withMetadata(2, 3, 4)
    sink.write(
        writer,
        [("a", "1", 0), ("b", None, 1), (None, "3", 1)],
        "IF(n = 0, map('h', CAST('x' AS BINARY)), NULL)",
        "IF(n = 0, timestamp_millis(1234), NULL)",
        "n",
    )
    found = records(broker.bootstrap_servers, name)
    assert [(m.key(), m.value(), m.partition(), m.headers()) for m in found] == [
        (b"a", b"1", 0, [("h", b"x")]),
        (b"b", None, 1, None),
        (None, b"3", 1, None),
    ]
    assert found[0].timestamp()[1] == 1234
    assert found[1].timestamp()[1] > 1_000_000_000_000
    assert sink.counts() == {"recordsOut": 3, "bytesOut": 4, "recordsLost": 0}


def test_round_robin_continues_with_the_next_epoch(broker, topic, sink):
    """One row per epoch; an epoch that runs again writes to the same partition."""
    name = topic("w", partitions=3)
    properties = {"bootstrap.servers": broker.bootstrap_servers}
    writer = sink.java.create(name, properties, "AT_LEAST_ONCE", 0, 0, sink.counters)
    writer.withPartitions("ROUND_ROBIN")
    java, gateway = sink.spark._jvm, sink.spark.sparkContext._gateway
    for epoch in (7, 8, 8, 9):
        values = gateway.new_array(java.java.lang.Object, 2)
        values[1] = str(epoch).encode()
        writer.open(1, epoch)
        writer.process(java.org.apache.spark.sql.RowFactory.create(values))
        writer.close(None)
    found = [(m.partition(), m.value()) for m in records(broker.bootstrap_servers, name)]
    assert found == [(0, b"8"), (0, b"8"), (1, b"9"), (2, b"7")]


def test_the_buffer_keeps_the_last_row_of_a_key(broker, topic, sink):
    name = topic("w")
    writer = sink.java.create(
        name,
        {"bootstrap.servers": broker.bootstrap_servers},
        "AT_LEAST_ONCE",
        1_000,
        60_000,
        sink.counters,
    )
    rows = [(f"k{n % 3}", f"{n}", n) for n in range(90)] + [("k0", None, 0), (None, "x", 0)]
    sink.write(writer, rows)
    found = [(m.key(), m.value()) for m in records(broker.bootstrap_servers, name)]
    assert sorted(found, key=str) == [(None, b"x"), (b"k0", None), (b"k1", b"88"), (b"k2", b"89")]
    assert sink.counts()["recordsOut"] == 4


def test_a_full_buffer_is_flushed(broker, topic, sink):
    name = topic("w")
    writer = sink.java.create(
        name,
        {"bootstrap.servers": broker.bootstrap_servers},
        "AT_LEAST_ONCE",
        2,
        60_000,
        sink.counters,
    )
    sink.write(writer, [("a", "1", 0), ("b", "2", 0), ("a", "3", 0)])
    assert [m.value() for m in records(broker.bootstrap_servers, name)] == [b"1", b"2", b"3"]


def test_the_buffer_is_flushed_after_its_interval(broker, topic, sink):
    name = topic("w")
    properties = {"bootstrap.servers": broker.bootstrap_servers, "linger.ms": "0"}
    writer = sink.java.create(name, properties, "AT_LEAST_ONCE", 1_000, 100, sink.counters)
    row = sink.spark._jvm.org.apache.spark.sql.RowFactory
    values = sink.spark.sparkContext._gateway.new_array(sink.spark._jvm.java.lang.Object, 2)
    values[0], values[1] = b"a", b"1"
    writer.open(0, 0)
    writer.process(row.create(values))
    deadline = time.monotonic() + PATIENCE_S
    while not (found := records(broker.bootstrap_servers, name)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert [m.value() for m in found] == [b"1"]  # before the writer is closed
    writer.close(None)


@pytest.mark.parametrize(("guarantee", "lost"), [("AT_LEAST_ONCE", None), ("NONE", 1)])
def test_a_record_that_kafka_refuses(broker, topic, sink, guarantee, lost):
    name = topic("w", config={"max.message.bytes": "1000"})
    properties = {"bootstrap.servers": broker.bootstrap_servers, "sasl.jaas.config": LOGIN}
    writer = sink.java.create(name, properties, guarantee, 0, 0, sink.counters)
    rows = [("a", "x" * 5_000, 0)]
    if lost is None:
        with pytest.raises(Exception, match=f"topic '{name}': RecordTooLargeException") as caught:
            sink.write(writer, rows)
        assert SECRET not in str(caught.value)
    else:
        sink.write(writer, rows)
        assert sink.counts()["recordsLost"] == lost


def test_counters_are_read_in_two_calls(spark, monkeypatch):
    """Counters are read five times a second; a dict of a Java map takes over a hundred calls."""
    counters = Bridge(spark).counters()
    sent: list[str] = []
    send = JavaClient.send_command

    def noted(self: JavaClient, command: str, *more: Any, **options: Any) -> Any:
        sent.append(command)
        return send(self, command, *more, **options)

    monkeypatch.setattr(JavaClient, "send_command", noted)
    assert counters.values() == dict.fromkeys((*COUNTED_IN, *COUNTED_OUT), 0)
    assert len([command for command in sent if not command.startswith("m")]) <= 2  # m: memory


def test_topics(broker, topic, admin):
    properties = {"bootstrap.servers": broker.bootstrap_servers, "group.id": "mine"}
    name = topic("adm", partitions=2)
    made = f"{name}-made"
    admin.createTopic(properties, 10_000, made, 3, -1, {"cleanup.policy": "compact"})
    admin.createTopic(properties, 10_000, made, 3, -1, {"cleanup.policy": "compact"})
    described = dict(admin.describe(properties, 10_000, made, 0))
    assert len(described.pop("id")) == 22
    assert described.pop("retention.ms") == "-1"
    assert described.pop("delete.retention.ms") == "86400000"
    assert described == {
        "partitions": "3",
        "replication": "1",
        "cleanup.policy": "compact",
        "min.compaction.lag.ms": "0",
    }
    admin.setConfigs(properties, 10_000, made, {"min.compaction.lag.ms": "6"}, True)
    assert dict(admin.describe(properties, 10_000, made, 0))["min.compaction.lag.ms"] == "0"
    with pytest.raises(Exception, match="Invalid value -5"):
        admin.setConfigs(properties, 10_000, made, {"min.compaction.lag.ms": "-5"}, True)
    admin.setConfigs(properties, 10_000, made, {"min.compaction.lag.ms": "7"}, False)
    changed = dict(admin.describe(properties, 10_000, made, 0))
    assert (changed["min.compaction.lag.ms"], changed["cleanup.policy"]) == ("7", "compact")
    assert dict(admin.describe(properties, 10_000, name, 0))["cleanup.policy"] == "delete"
    assert dict(admin.describe(properties, 10_000, "no-such-topic", 0)) == {}
    assert {name, made} <= set(admin.existingTopics(properties, 10_000))
    assert list(admin.topicsMatching(properties, 10_000, f"{name}-m.*")) == [made]


def test_offsets(broker, topic, spark, sink):
    admin = spark._jvm.io.streamtable.kafka.admin.TopicOffsets
    properties = {"bootstrap.servers": broker.bootstrap_servers}
    name = topic("adm", partitions=2)
    writer = sink.java.create(name, properties, "AT_LEAST_ONCE", 0, 0, sink.counters)
    sink.write(writer.withMetadata(-1, -1, 2), [("a", "1", 0), ("b", "2", 0), ("c", "3", 1)], "n")
    ends = dict(admin.endOffsets(properties, 10_000, [name]))
    assert ends == {f"{name}:0": 2, f"{name}:1": 1}
    assert set(dict(admin.beginningOffsets(properties, 10_000, [name])).values()) == {0}
    assert dict(admin.committedOffsets(properties, 10_000, f"g-{name}", [name])) == {}
    group = [TopicPartition(name, 0, 2), TopicPartition(name, 1, 2**40)]
    client = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    committing = client.alter_consumer_group_offsets(
        [ConsumerGroupTopicPartitions(f"g-{name}", group)]
    )
    committing[f"g-{name}"].result(60)
    committed = dict(admin.committedOffsets(properties, 10_000, f"g-{name}", [name]))
    assert committed == {f"{name}:0": 2, f"{name}:1": 2**40}
    assert dict(admin.committedOffsets(properties, 10_000, f"g-{name}", ["other"])) == {}


@pytest.fixture
def silent() -> Iterator[str]:
    """A server that accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", free_port())) as server:
        yield f"127.0.0.1:{server.getsockname()[1]}"


@pytest.mark.parametrize(
    ("servers", "condition", "reason", "hint"),
    [
        ("127.0.0.1:1", "UNREACHABLE", "127.0.0.1:1: Connection refused", "the broker is running"),
        ("nowhere.invalid:9092", "UNREACHABLE", "no address in", "the broker is running"),
        ("127.0.0.1", "FAILED", "is not host:port", None),
        (None, "UNREACHABLE", "TimeoutException", "advertised.listeners"),
    ],
    ids=["refused", "unresolved", "malformed", "silent"],
)
def test_connection_failures_are_reported_with_reason_and_hint(
    spark, silent, servers, condition, reason, hint
):
    begun = time.monotonic()
    with pytest.raises(StreamtableError) as caught:
        KafkaAdmin(Bridge(spark), {"bootstrap.servers": servers or silent}, 2_000).topics()
    assert time.monotonic() - begun < 20
    assert caught.value.condition is Condition[f"BROKER_{condition}"]
    assert reason in caught.value.values["reason"]
    assert (hint or "") in (caught.value.hint or "")


@pytest.mark.parametrize(
    "more",
    [
        {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN"},
        {"security.protocol": "SSL", "ssl.truststore.location": "/no/such/file"},
        {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "NONSENSE"},
    ],
    ids=["login", "truststore", "mechanism"],
)
def test_secrets_stay_out_of_messages(broker, admin, more):
    properties = {
        "bootstrap.servers": broker.bootstrap_servers,
        "sasl.jaas.config": LOGIN,
        "ssl.truststore.password": SECRET,
        **more,
    }
    with pytest.raises(Py4JJavaError) as caught:
        admin.existingTopics(properties, 3_000)
    assert SECRET not in str(caught.value)
