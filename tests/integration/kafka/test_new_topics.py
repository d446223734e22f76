"""A topic that was created a moment ago is found, although a broker may not know it yet."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka.admin import AdminClient
from confluent_kafka.admin import NewTopic as Topic

from streamtable.connectors.kafka.cluster.admin import KafkaAdmin
from streamtable.connectors.kafka.cluster.topics import check_topics_there
from streamtable.connectors.kafka.source import KafkaSource
from streamtable.connectors.kafka.table import KafkaTable
from streamtable.core.errors import Condition, StreamtableError
from streamtable.jvm.bridge import Bridge
from streamtable.plan.source.scan import scans
from streamtable.session import Session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from streamtable.devbroker.broker import Broker

#: The time that a broker takes to know the topic; in a busy cluster, it may take as long.
_UNKNOWN_S = 0.5


def _table(topic: str, servers: str) -> KafkaTable:
    session = Session()
    session.load(
        f"""
        CREATE TABLE new (id BIGINT) WITH ('connector' = 'kafka', 'topic' = '{topic}',
          'properties.bootstrap.servers' = '{servers}', 'scan.startup.mode' = 'earliest-offset',
          'format' = 'json');
        CREATE TABLE quiet (id BIGINT) WITH ('connector' = 'blackhole');
        INSERT INTO quiet SELECT id FROM new;
        """,
        "new.sql",
        {},
    )
    (scan,) = scans(session.plans[0].input)
    found = scan.table.connector
    assert isinstance(found, KafkaTable)
    return found


def _checked(table: KafkaTable, bridge: Bridge) -> None:
    check_topics_there(table, bridge, frozenset())


def _offsets(table: KafkaTable, bridge: Bridge) -> None:
    found = KafkaAdmin(bridge, table.properties).end_offsets(table.topics)
    assert found == {(table.topics[0], 0): 0}


def _access(table: KafkaTable, bridge: Bridge) -> None:
    KafkaAdmin(bridge, table.properties).check_access(table.topics[0], "READ")


def _later_splits(table: KafkaTable, bridge: Bridge) -> None:
    splits: Any = KafkaSource(table).later_splits(bridge)
    assert not splits.unread(f'{{"{table.topics[0]}":{{"0":0}}}}')
    splits.close()


@pytest.mark.parametrize("ask", [_checked, _offsets, _access, _later_splits])
def test_a_topic_is_found_when_the_broker_knows_it(
    ask: Callable[[KafkaTable, Bridge], None], spark: SparkSession, broker: Broker
) -> None:
    topic = f"new-{uuid.uuid4().hex[:12]}"
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    table = _table(topic, broker.bootstrap_servers)
    create = threading.Timer(_UNKNOWN_S, lambda: admin.create_topics([Topic(topic, 1)]))
    create.start()
    try:
        ask(table, Bridge(spark))
    finally:
        create.join()


def test_a_topic_that_nobody_creates_is_missing(spark: SparkSession, broker: Broker) -> None:
    table = _table("no-such-topic", broker.bootstrap_servers)
    with pytest.raises(StreamtableError) as caught:
        check_topics_there(table, Bridge(spark), frozenset())
    assert caught.value.condition is Condition.TOPIC_MISSING
