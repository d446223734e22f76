"""The newest rows of sink topics: row kinds and values by format, and skipped records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from streamtable.connector_api.endpoints import sink_of
from streamtable.connector_api.tail import ChangeRow, Tail
from streamtable.core.errors import Condition, StreamtableError
from streamtable.jvm.bridge import Bridge
from streamtable.session import Session
from streamtable.testing.topics import produce

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

_UPSERT = "'connector' = 'upsert-kafka', 'key.format' = 'json', 'value.format' = '{}'"
_KEPT = "'connector' = 'kafka', 'format' = '{}'"


def _tail(spark: SparkSession, broker: Broker, topic: str, options: str, rows: int = 10) -> Tail:
    key = ", PRIMARY KEY (k) NOT ENFORCED" if "upsert" in options else ""
    session = Session()
    session.load(
        f"CREATE TABLE o (k INT, v STRING{key}) WITH ({options}, 'topic' = '{topic}',"
        f" 'properties.bootstrap.servers' = '{broker.bootstrap_servers}');"
        " INSERT INTO o VALUES (1, 'a');",
        "o.sql",
    )
    return sink_of(session.plans[0].table).tail(rows, Bridge(spark))


def _plain(rows: Any) -> list[tuple[str, dict[str, Any]]]:
    return [(row.kind, dict(row.columns)) for row in rows]


def _row(k: int, v: str | None = None) -> tuple[bytes, bytes | None]:
    return b'{"k":%d}' % k, None if v is None else b'{"k":%d,"v":"%s"}' % (k, v.encode())


def test_upserts_and_deletions_as_they_arrive(
    spark: SparkSession, broker: Broker, topic: Topics
) -> None:
    name = topic("upserts", partitions=2)
    tail = _tail(spark, broker, name, _UPSERT.format("json"))
    assert tail.poll() == []
    produce(broker.bootstrap_servers, name, [_row(1, "a")], partition=0)
    assert _plain(tail.poll()) == [("+U", {"k": 1, "v": "a"})]
    produce(broker.bootstrap_servers, name, [_row(1)], partition=0)
    produce(broker.bootstrap_servers, name, [_row(2, "b"), (b"{", b"{")], partition=1)
    found = tail.poll()
    assert sorted(_plain(found), key=repr) == sorted(
        [
            ("-D", {"k": 1}),
            ("+U", {"k": 2, "v": "b"}),
            ("", {"(the record cannot be read)": None}),
        ],
        key=repr,
    )
    assert all(isinstance(row, ChangeRow) and row.time_ms > 1e12 for row in found)
    assert tail.poll() == []
    tail.close()


def test_only_the_newest_rows_are_read(spark: SparkSession, broker: Broker, topic: Topics) -> None:
    name = topic("many", partitions=2)
    for partition in (0, 1):
        rows = [_row(k, "old") for k in range(300)]
        produce(broker.bootstrap_servers, name, rows, partition=partition)
    tail = _tail(spark, broker, name, _KEPT.format("json"))
    assert [row["k"] for _, row in sorted(_plain(tail.poll()), key=repr)] == sorted(
        [*range(295, 300)] * 2
    )
    produce(broker.bootstrap_servers, name, [_row(k, "new") for k in range(100)], partition=1)
    assert _plain(tail.poll()) == [("+I", {"k": k, "v": "new"}) for k in range(95, 100)]
    tail.close()


@pytest.mark.parametrize(
    ("format_", "values", "expected"),
    [
        (
            "debezium-json",
            [
                b'{"before":null,"after":{"k":1,"v":"a"},"op":"c"}',
                b'{"before":{"k":1,"v":"a"},"after":{"k":1,"v":"b"},"op":"u"}',
                b'{"before":{"k":1,"v":"b"},"after":null,"op":"d"}',
            ],
            [("+I", "a"), ("-U", "a"), ("+U", "b"), ("-D", "b")],
        ),
        (
            "canal-json",
            [
                b'{"data":[{"k":1,"v":"a"}],"type":"INSERT"}',
                b'{"data":[{"k":1,"v":"a"}],"type":"DELETE"}',
            ],
            [("+I", "a"), ("-D", "a")],
        ),
        (
            "maxwell-json",
            [
                b'{"data":{"k":1,"v":"a"},"type":"insert"}',
                b'{"data":{"k":1,"v":"a"},"type":"delete"}',
            ],
            [("+I", "a"), ("-D", "a")],
        ),
        (
            "ogg-json",
            [
                b'{"before":null,"after":{"k":1,"v":"a"},"op_type":"I"}',
                b'{"before":{"k":1,"v":"a"},"after":{"k":1,"v":"b"},"op_type":"U"}',
                b'{"before":{"k":1,"v":"b"},"after":null,"op_type":"D"}',
            ],
            [("+I", "a"), ("-U", "a"), ("+U", "b"), ("-D", "b")],
        ),
        ("csv", [b"1,a"], [("+I", "a")]),
    ],
)
def test_formats(
    spark: SparkSession,
    broker: Broker,
    topic: Topics,
    format_: str,
    values: list[bytes],
    expected: list[tuple[str, str]],
) -> None:
    name = topic("events")
    produce(broker.bootstrap_servers, name, [(None, value) for value in values])
    tail = _tail(spark, broker, name, _KEPT.format(format_))
    assert _plain(tail.poll()) == [(kind, {"k": 1, "v": value}) for kind, value in expected]
    tail.close()


def test_a_null_value_in_raw(spark: SparkSession, broker: Broker, topic: Topics) -> None:
    name = topic("raw")
    produce(broker.bootstrap_servers, name, [(b'{"k":1}', None), (b'{"k":2}', b"a")])
    options = "'connector' = 'kafka', 'key.format' = 'json', 'key.fields' = 'k'"
    options += ", 'value.format' = 'raw', 'value.fields-include' = 'EXCEPT_KEY'"
    tail = _tail(spark, broker, name, options)
    assert _plain(tail.poll()) == [("+I", {"k": 1, "v": None}), ("+I", {"k": 2, "v": "a"})]
    tail.close()


def test_an_unreachable_broker_is_reported(spark: SparkSession, broker: Broker) -> None:
    tail = _tail(spark, broker, "never-made", _KEPT.format("json"))
    assert tail.poll() == []
    tail.close()
    session = Session()
    session.load(
        "CREATE TABLE o (k INT) WITH ('connector' = 'kafka', 'format' = 'json', 'topic' = 'o',"
        " 'properties.bootstrap.servers' = '127.0.0.1:1', 'properties.default.api.timeout.ms' ="
        " '2000', 'properties.request.timeout.ms' = '1000');"
        " INSERT INTO o VALUES (1);",
        "o.sql",
    )
    gone = sink_of(session.plans[0].table).tail(1, Bridge(spark))
    with pytest.raises(StreamtableError) as failed:
        gone.poll()
    gone.close()
    assert failed.value.condition is Condition.BROKER_UNREACHABLE
