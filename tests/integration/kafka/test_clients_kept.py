"""Kafka clients of a JVM: a silent cluster delays no other cluster, and no client stays open."""

from __future__ import annotations

import socket
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka import Consumer, TopicPartition
from py4j.protocol import Py4JJavaError

from streamtable.devbroker.broker import free_port
from streamtable.jvm.streaming.counters import COUNTED_IN, COUNTED_OUT
from streamtable.testing.topics import produce_json

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

#: Milliseconds that a producer waits for a cluster that does not answer; more than PATIENCE_S.
STALLED_MS = 20_000
PATIENCE_S = 15
#: Limits of the time that the close of a producer waits for an answer.
_SHORT = {"request.timeout.ms": "1000", "delivery.timeout.ms": "2000"}
#: Milliseconds that a login may take.
LOGIN_MS = 120_000
#: Seconds until an unused client is closed, with some reserve for the checks.
IDLE_S = 200


class SilentServer:
    """Accept connections and never answer, as a cluster that hangs."""

    def __init__(self) -> None:
        self._listening = socket.create_server(("127.0.0.1", free_port()))
        self.address = f"127.0.0.1:{self._listening.getsockname()[1]}"
        self.met = threading.Event()
        self._open: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                self._open.append(self._listening.accept()[0])
            except OSError:
                return
            self.met.set()

    def close(self) -> None:
        for each in (self._listening, *self._open):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)  # wakes waiting threads; `close` alone does not
            each.close()


@pytest.fixture
def silent() -> Iterator[SilentServer]:
    server = SilentServer()
    yield server
    server.close()


def counters(spark: SparkSession) -> Any:
    """Register the counters of the writers."""
    java: Any = spark._jvm
    every = (*COUNTED_IN, *COUNTED_OUT)
    names = spark.sparkContext._gateway.new_array(java.java.lang.String, len(every))
    for at, name in enumerate(every):
        names[at] = name
    return java.io.streamtable.metrics.Counters.register(spark._jsc.sc(), names)


class Writers:
    """Make `KafkaWriter`s, which tests call as a task does, and rows for them."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._java: Any = spark._jvm
        self._counters = counters(spark)

    def plain(self, topic: str, properties: dict[str, str], buffer_ms: int = 0) -> Any:
        writer = self._java.io.streamtable.kafka.write.KafkaWriter
        rows = 1_000 if buffer_ms else 0
        return writer.create(topic, properties, "AT_LEAST_ONCE", rows, buffer_ms, self._counters)

    def transactional(self, topic: str, properties: dict[str, str], buffer_ms: int) -> Any:
        writer = self._java.io.streamtable.kafka.write.KafkaWriter
        return writer.createTransactional(
            topic, properties, topic, "job", 1_000, buffer_ms, self._counters
        )

    def row(self, key: bytes, value: bytes) -> Any:
        objects = self._spark.sparkContext._gateway.new_array(self._java.java.lang.Object, 2)
        objects[0], objects[1] = key, value
        return self._java.org.apache.spark.sql.RowFactory.create(objects)


@pytest.fixture
def writers(spark: SparkSession) -> Writers:
    return Writers(spark)


def first_value(servers: str, topic: str) -> bytes | None:
    """Return the value of the topic's first record, or None if the record does not come in time."""
    consumer = Consumer({"bootstrap.servers": servers, "group.id": "look"})
    consumer.assign([TopicPartition(topic, 0, 0)])
    try:
        message = consumer.poll(PATIENCE_S)
        return message.value() if message else None
    finally:
        consumer.close()


def test_a_buffer_of_a_silent_cluster_delays_no_other_cluster(
    writers: Writers, broker: Broker, topic: Topics, silent: SilentServer
) -> None:
    name = topic("live")
    stalled = {"bootstrap.servers": silent.address, "max.block.ms": str(STALLED_MS), **_SHORT}
    dead = writers.plain(name, stalled, 100)
    live = writers.plain(name, {"bootstrap.servers": broker.bootstrap_servers}, 100)
    dead.open(0, 0)
    dead.process(writers.row(b"a", b"0"))
    assert silent.met.wait(PATIENCE_S)
    live.open(0, 0)
    live.process(writers.row(b"a", b"1"))
    assert first_value(broker.bootstrap_servers, name) == b"1"  # before the writer is closed
    live.close(None)
    with pytest.raises(Py4JJavaError, match="TimeoutException"):
        dead.close(None)


def test_a_login_that_hangs_delays_no_other_cluster(
    spark: SparkSession, writers: Writers, broker: Broker, topic: Topics, silent: SilentServer
) -> None:
    java: Any = spark._jvm
    url = f"http://{silent.address}/token"
    java.java.lang.System.setProperty("org.apache.kafka.sasl.oauthbearer.allowed.urls", url)
    bearer = "org.apache.kafka.common.security.oauthbearer"
    login = {
        "bootstrap.servers": silent.address,
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.oauthbearer.token.endpoint.url": url,
        "sasl.login.callback.handler.class": f"{bearer}.OAuthBearerLoginCallbackHandler",
        "sasl.login.read.timeout.ms": str(LOGIN_MS),
        "sasl.login.retry.backoff.max.ms": "100",
        "sasl.jaas.config": f"{bearer}.OAuthBearerLoginModule required clientId='a'"
        " clientSecret='b';",
    }
    name = topic("live")
    refused: list[str] = []

    def hang() -> None:
        try:
            writers.plain(name, login).open(0, 0)
        except Py4JJavaError as error:
            refused.append(str(error.java_exception.getMessage()))

    hanging = threading.Thread(target=hang)
    hanging.start()
    assert silent.met.wait(PATIENCE_S)
    begun = time.monotonic()
    live = writers.plain(name, {"bootstrap.servers": broker.bootstrap_servers})
    live.open(0, 0)
    live.process(writers.row(b"a", b"1"))
    live.close(None)
    assert time.monotonic() - begun < LOGIN_MS / 1_000
    assert not refused
    silent.close()  # this ends the login
    hanging.join(LOGIN_MS / 1_000)
    assert refused
    assert "KafkaException: Failed to construct kafka producer" in refused[0]


def test_rows_that_the_timer_could_not_send_fail_the_task(
    writers: Writers, topic: Topics, silent: SilentServer
) -> None:
    """The rows have left the buffer, so a commit of the transaction alone would lose them."""
    properties = {"bootstrap.servers": silent.address, "max.block.ms": "2000", **_SHORT}
    writer = writers.transactional(topic("lost"), properties, 100)
    writer.open(0, 0)
    writer.process(writers.row(b"a", b"1"))
    assert silent.met.wait(PATIENCE_S)
    with pytest.raises(Py4JJavaError, match="TimeoutException"):
        writer.close(None)


def clients(spark: SparkSession) -> set[str]:
    """Return the MBean names of the admin clients and consumers that are open in the JVM."""
    java: Any = spark._jvm
    server = java.java.lang.management.ManagementFactory.getPlatformMBeanServer()
    # Call a method of the interface: the server's own class is not accessible.
    methods = java.java.lang.Class.forName("javax.management.MBeanServer").getMethods()
    query = next(method for method in methods if method.getName() == "queryNames")
    asked = spark.sparkContext._gateway.new_array(java.java.lang.Object, 2)
    found: set[str] = set()
    for kind in ("kafka.admin.client", "kafka.consumer"):
        asked[0] = java.javax.management.ObjectName(f"{kind}:type=app-info,id=*")
        found |= {bean.getCanonicalName() for bean in query.invoke(server, asked)}
    return found


def test_requests_share_an_admin_client(spark: SparkSession, broker: Broker, topic: Topics) -> None:
    java: Any = spark._jvm
    admin = java.io.streamtable.kafka.admin.KafkaAdmin
    # No other test sets this property, so there is no client with these properties yet.
    properties = {"bootstrap.servers": broker.bootstrap_servers, "retry.backoff.ms": "123"}
    name = topic("asked")
    before = clients(spark)
    admin.describe(properties, 30_000, name, 0)
    made = clients(spark) - before
    assert len(made) == 1
    offsets = java.io.streamtable.kafka.admin.TopicOffsets
    offsets.endOffsets(properties, 30_000, [name])
    admin.existingTopics(properties, 30_000)
    assert clients(spark) - before == made
    with pytest.raises(Py4JJavaError):
        offsets.endOffsets(properties, 30_000, [f"{name}-missing"])
    assert not clients(spark) & made  # a client that failed is not used again


def test_sink_positions_close_their_client(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    java: Any = spark._jvm
    positions = java.io.streamtable.kafka.rollback.SinkPositions
    properties = {"bootstrap.servers": broker.bootstrap_servers, "client.id": "positions"}
    name, counted = topic("sink"), counters(spark)
    before = clients(spark)

    def watch(query: Path) -> None:
        where = (str(query), str(query / "sinks"))
        positions.watch(properties, 30_000, name, "id", *where, -1, counted)

    for _ in range(2):  # the second time, as after an aborted query
        watch(tmp_path / "a")
    positions.forget(str(tmp_path / "a"), str(tmp_path / "a" / "sinks"))
    (tmp_path / "b" / "sinks" / ".-1.draft").mkdir(parents=True)  # the file cannot be written
    with pytest.raises(Py4JJavaError):
        watch(tmp_path / "b")
    assert clients(spark) <= before  # clients of other tests may close meanwhile


@pytest.mark.soak
def test_unused_clients_are_closed(spark: SparkSession, broker: Broker, topic: Topics) -> None:
    java: Any = spark._jvm
    name = topic("epochs")
    produce_json(broker.bootstrap_servers, name, [{"id": 1}])
    properties = {"bootstrap.servers": broker.bootstrap_servers, "retry.backoff.ms": "124"}
    before = clients(spark)
    text = java.org.apache.spark.unsafe.types.UTF8String.fromString(name)
    assert java.io.streamtable.kafka.read.LeaderEpochs(properties).of(text, 0, 0) == 0
    java.io.streamtable.kafka.admin.KafkaAdmin.existingTopics(properties, 30_000)
    kept = clients(spark) - before
    assert len(kept) == 2
    deadline = time.monotonic() + IDLE_S
    while clients(spark) & kept:
        assert time.monotonic() < deadline, f"open: {clients(spark) & kept}"
        time.sleep(1)
