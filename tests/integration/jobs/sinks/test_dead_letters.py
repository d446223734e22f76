"""Dead-letter topics for records that do not parse: contents, counts, and sends that fail."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka import Producer

from streamtable.core.errors import Condition, StreamtableError
from streamtable.testing.jobs import BoundedRun
from streamtable.testing.topics import records

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

SINK = """
CREATE TABLE o (k INT, v INT, PRIMARY KEY (k) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${source}-out',
  'properties.bootstrap.servers' = '${servers}',
  'key.format' = 'json', 'value.format' = 'json'
);
INSERT INTO o SELECT k, v FROM t;
"""

UPSERT = """
CREATE TABLE t (k INT, v INT, PRIMARY KEY (k) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${source}',
  'properties.bootstrap.servers' = '${servers}', 'properties.acks' = '0',
  'key.format' = 'json', 'value.format' = 'json', 'scan.dead-letter.topic' = '${dead}'
);
"""

KAFKA = """
CREATE TABLE t (k INT, v INT, PRIMARY KEY (k) NOT ENFORCED) WITH (
  'connector' = 'kafka', 'topic' = '${source}', 'scan.startup.mode' = 'earliest-offset',
  'properties.bootstrap.servers' = '${servers}',
  'format' = 'maxwell-json', 'scan.dead-letter.topic' = '${dead}'
);
"""


def send(broker: Broker, topic: str, *sent: tuple[bytes | None, bytes | None, Any]) -> None:
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers})
    for key, value, headers in sent:
        producer.produce(topic, value, key, headers=headers or [])
    assert producer.flush(30) == 0


def letters(broker: Broker, topic: str) -> list[tuple[Any, Any, dict[str, bytes]]]:
    return [
        (r.key(), r.value(), dict(r.headers() or []))
        for r in records(broker.bootstrap_servers, topic)
    ]


def source(topic: str, offset: int, part: str) -> dict[str, bytes]:
    return {
        "streamtable.source.topic": topic.encode(),
        "streamtable.source.partition": b"0",
        "streamtable.source.offset": str(offset).encode(),
        "streamtable.error.class": b"RECORD_UNREADABLE",
        "streamtable.error.part": part.encode(),
    }


def test_unreadable_keys_and_values_go_to_the_dead_letter_topic(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    name = topic("changes")
    send(
        broker,
        name,
        (b'{"k":1}', b'{"k":1,"v":5}', None),
        (b"nonsense", None, [("trace", b"a"), ("trace", b"b"), ("none", None)]),
        (b'{"k":2}', b"\x00\xff", None),
        (b'{"k":3}', b'{"k":3,"v":6}', None),
        (None, b'{"k":4,"v":1}', None),
    )
    names = {"source": name, "dead": f"{name}-dead", "servers": broker.bootstrap_servers}
    run = BoundedRun(spark, UPSERT + SINK, tmp_path / "c", names)
    run()
    assert {row["k"]: row["v"] for row in run.rows("o").values()} == {1: 5, 3: 6}
    assert (
        "t: 2 records written to the dead-letter topic, because they cannot be parsed"
        in run.notices
    )
    assert "t: 1 records skipped, because they have no key" in run.notices
    found = letters(broker, f"{name}-dead")
    assert [(key, value) for key, value, _ in found] == [
        (b"nonsense", None),
        (b'{"k":2}', b"\x00\xff"),
    ]
    first, second = (headers for _, _, headers in found)
    assert first.pop("streamtable.error.reason").startswith(b"key is not valid json: ")
    assert second.pop("streamtable.error.reason").startswith(b"value is not valid json: ")
    assert first == source(name, 1, "key") | {"trace": b"b", "none": None}
    assert second == source(name, 2, "value")
    run()
    assert len(letters(broker, f"{name}-dead")) == 2, "a restart reads on, not again"


def test_broken_change_events(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    name = topic("events")
    good = b'{"type":"insert","data":{"k":1,"v":2}}'
    send(broker, name, (None, good, None), (None, b'{"type":"truncate"}', None))
    names = {"source": name, "dead": topic("dead"), "servers": broker.bootstrap_servers}
    run = BoundedRun(spark, KAFKA + SINK, tmp_path / "c", names)
    run()
    assert list(run.rows("o").values()) == [{"k": 1, "v": 2}]
    ((key, value, headers),) = letters(broker, names["dead"])
    assert (key, value) == (None, b'{"type":"truncate"}')
    assert headers["streamtable.error.reason"] == (
        b"value is not valid maxwell-json: 'type' is 'truncate', not insert, update or delete"
    )


def test_a_rejected_dead_letter_ends_the_job_and_is_sent_again(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    name = topic("changes")
    small = topic("dead", config={"max.message.bytes": "300"})
    send(broker, name, (b'{"k":1}', b"{" * 1_000, None))
    names = {"source": name, "dead": small, "servers": broker.bootstrap_servers}
    with pytest.raises(StreamtableError) as failed:
        BoundedRun(spark, UPSERT + SINK, tmp_path / "c", names)()
    assert failed.value.condition is Condition.JOB_FAILED
    assert f"dead letters, topic '{small}'" in str(failed.value)
    # The batch was not committed. With a topic that accepts the record, the same checkpoint reads
    # the record again.
    names["dead"] = f"{name}-dead"
    run = BoundedRun(spark, UPSERT + SINK, tmp_path / "c", names)
    run()
    assert [key for key, _, _ in letters(broker, f"{name}-dead")] == [b'{"k":1}']
