"""A starting broker refuses the first records of a partition, and accepts later records.

A broker without state of a producer accepts any sequence number first. So with several requests in
flight, the broker may accept the second and then refuse the first for ever (KAFKA-14359).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from confluent_kafka import Producer
from tests.integration.faults.refusing import RefusingBroker
from tests.integration.jobs.committed import ids_in, once, open_partitions

from streamtable.testing.jobs import BoundedRun
from streamtable.testing.topics import produce_json, records

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

SCRIPT = """
CREATE TABLE t (id BIGINT) WITH (
  'connector' = 'kafka', 'topic' = '${source}', 'scan.startup.mode' = 'earliest-offset',
  'properties.bootstrap.servers' = '${servers}', 'format' = 'json'${dead}
);
CREATE TABLE o (id BIGINT) WITH (
  'connector' = 'kafka', 'topic' = '${sink}',
  'properties.bootstrap.servers' = '${refusing}', 'format' = 'json'${guarantee}${small}
);
INSERT INTO o SELECT id FROM t;
"""

#: Many requests per batch, and a delivery timeout that a test can wait for.
SMALL = (
    ", 'properties.batch.size' = '2000', 'properties.delivery.timeout.ms' = '20000',"
    " 'properties.request.timeout.ms' = '5000'"
)
EXACTLY_ONCE = (
    ", 'sink.delivery-guarantee' = 'exactly-once', 'sink.transactional-id-prefix' = '${sink}'"
)
COUNT = 20_000


@pytest.mark.parametrize("guarantee", ["", EXACTLY_ONCE], ids=["at-least-once", "exactly-once"])
def test_records_of_a_sink(
    guarantee: str, spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    source, sink = topic("ids", partitions=2), topic("out", partitions=3)
    servers = broker.bootstrap_servers
    produce_json(servers, source, ({"id": i} for i in range(COUNT)))
    with RefusingBroker(broker.port, sink) as refusing:
        names = {"servers": servers, "refusing": refusing.servers, "source": source, "sink": sink}
        script = SCRIPT.replace("${guarantee}", guarantee).replace("${small}", SMALL)
        BoundedRun(spark, script.replace("${dead}", ""), tmp_path / "c", names)()
        assert refusing.refused
    assert open_partitions(servers, sink) == []
    assert ids_in(servers, sink) == once(COUNT)


def test_dead_letters(spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path) -> None:
    source, sink, dead = topic("ids", partitions=2), topic("out"), topic("dead", partitions=3)
    servers = broker.bootstrap_servers
    producer = Producer({"bootstrap.servers": servers})
    for i in range(COUNT):
        producer.produce(source, b"{ %d" % i)
        producer.poll(0)
    assert producer.flush(30) == 0
    with RefusingBroker(broker.port, dead) as refusing:
        names = {"servers": refusing.servers, "refusing": servers, "source": source, "sink": sink}
        script = SCRIPT.replace("${guarantee}", "").replace("${small}", "")
        kept = f", 'scan.dead-letter.topic' = '{dead}'{SMALL}"
        BoundedRun(spark, script.replace("${dead}", kept), tmp_path / "c", names)()
        assert refusing.refused
    found = sorted(int(letter.value()[2:]) for letter in records(servers, dead))
    assert found == list(range(COUNT))
