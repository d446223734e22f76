"""Jobs over debezium-avro-confluent tables on a real broker and a real schema registry."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

import fastavro
import pytest
from tests.integration.jobs.records.registry_api import Api, header

from streamtable.core.errors import Condition, StreamtableError
from streamtable.testing.jobs import BoundedRun
from streamtable.testing.topics import produce, records

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker
    from streamtable.devbroker.registry import Registry

_FORMAT = """'connector' = 'kafka', 'properties.bootstrap.servers' = '${servers}',
  'scan.startup.mode' = 'earliest-offset',
  'format' = 'debezium-avro-confluent', 'debezium-avro-confluent.url' = '${registry}'"""
COPY = f"""
CREATE TABLE events (
  id BIGINT NOT NULL, name STRING, amount DECIMAL(10, 2), `at` TIMESTAMP(3),
  r ROW<x INT, l ARRAY<STRING>>, m MAP<STRING, INT>, `day` DATE, b BYTES
) WITH ('topic' = '${{source}}', {_FORMAT});
CREATE TABLE copied WITH ('topic' = '${{source}}-out') LIKE events (OVERWRITING OPTIONS);
INSERT INTO copied SELECT * FROM events;
"""
NAMES = f"""
CREATE TABLE events ${{columns}} WITH ('topic' = '${{source}}', {_FORMAT}${{options}});
CREATE TABLE names (id INT, name STRING, PRIMARY KEY (id) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${{source}}-out',
  'properties.bootstrap.servers' = '${{servers}}', 'key.format' = 'json', 'value.format' = 'json'
);
INSERT INTO names SELECT id, name FROM events;
"""


def _flinks_row(name: str) -> dict[str, Any]:
    """Return the schema of the rows of COPY in an event, as Flink 2.2.0 registered it."""
    parts = {
        "name": "string",
        "amount": {"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2},
        "at": {"type": "long", "logicalType": "timestamp-millis"},
        "r": {
            "type": "record",
            "name": f"{name}_r",
            "fields": [
                {"name": "x", "type": ["null", "int"], "default": None},
                {
                    "name": "l",
                    "type": ["null", {"type": "array", "items": ["null", "string"]}],
                    "default": None,
                },
            ],
        },
        "m": {"type": "map", "values": ["null", "int"]},
        "day": {"type": "int", "logicalType": "date"},
        "b": "bytes",
    }
    columns = [{"name": n, "type": ["null", kind], "default": None} for n, kind in parts.items()]
    return {"type": "record", "name": name, "fields": [{"name": "id", "type": "long"}, *columns]}


FLINKS = [
    "null",
    {
        "type": "record",
        "name": "record",
        "namespace": "org.apache.flink.avro.generated",
        "fields": [
            {"name": "before", "type": ["null", _flinks_row("record_before")], "default": None},
            {"name": "after", "type": ["null", _flinks_row("record_after")], "default": None},
            {"name": "op", "type": ["null", "string"], "default": None},
        ],
    },
]
#: Two inserts as Flink 2.2.0 wrote them, without the header of five bytes.
FLINKS_EVENTS = [
    "020002020202610204009602dcec868299630202020202020275000202026b0202000298b40202040102020263",
    "0200020400000000000000020263",
]
#: The schema that Debezium's converter registers, with fewer fields of `source`.
DEBEZIUMS = {
    "type": "record",
    "name": "Envelope",
    "namespace": "shop.users",
    "fields": [
        {
            "name": "before",
            "type": [
                "null",
                {
                    "type": "record",
                    "name": "Value",
                    "fields": [
                        {"name": "id", "type": "int"},
                        {"name": "name", "type": ["null", "string"], "default": None},
                    ],
                },
            ],
            "default": None,
        },
        {"name": "after", "type": ["null", "Value"], "default": None},
        {
            "name": "source",
            "type": {
                "type": "record",
                "name": "Source",
                "fields": [{"name": "db", "type": "string"}, {"name": "ts_ms", "type": "long"}],
            },
        },
        {"name": "op", "type": "string"},
        {"name": "ts_ms", "type": ["null", "long"], "default": None},
    ],
}
ANN, BEA, BEN = ({"id": 1, "name": "Ann"}, {"id": 2, "name": "Bea"}, {"id": 2, "name": "Ben"})


SCHEMA_OPTION = f", 'debezium-avro-confluent.schema' = '{json.dumps(DEBEZIUMS)}'"


def debezium(schema_id: int, op: str, before: Any, after: Any) -> bytes:
    out = io.BytesIO()
    source = {"db": "shop", "ts_ms": 5}
    event = {"before": before, "after": after, "source": source, "op": op, "ts_ms": 6}
    fastavro.schemaless_writer(out, fastavro.parse_schema(DEBEZIUMS), event)
    return header(schema_id) + out.getvalue()


def test_events_of_flink(
    spark: SparkSession, broker: Broker, registry: Registry, topic: Topics, tmp_path: Path
) -> None:
    servers, source, api = broker.bootstrap_servers, topic("events"), Api(registry.url)
    first = header(api.register(f"{source}-value", FLINKS))
    values = [first + bytes.fromhex(event) for event in FLINKS_EVENTS]
    produce(servers, source, ((None, value) for value in values))
    names = {"source": source, "servers": servers, "registry": registry.url}
    BoundedRun(spark, COPY, tmp_path / "job", names)()

    found = [record.value() for record in records(servers, f"{source}-out")]
    assert [value[5:].hex() for value in found] == FLINKS_EVENTS
    written = api.ask(f"/subjects/{source}-out-value/versions/1")
    assert json.loads(written["schema"]) == FLINKS


@pytest.mark.parametrize(
    ("columns", "options"),
    [
        ("(id INT NOT NULL, name STRING)", ""),
        ("(id INT NOT NULL, name STRING)", SCHEMA_OPTION),
        ("", ""),
    ],
    ids=["declared", "schema", "of the registry"],
)
def test_events_of_debezium(
    columns: str,
    options: str,
    spark: SparkSession,
    broker: Broker,
    registry: Registry,
    topic: Topics,
    tmp_path: Path,
) -> None:
    servers, source, api = broker.bootstrap_servers, topic("users"), Api(registry.url)
    schema = api.register(f"{source}-value", DEBEZIUMS)
    events = [("r", None, ANN), ("c", None, BEA), ("u", BEA, BEN), ("d", ANN, None)]
    values = [debezium(schema, *event) for event in events]
    produce(servers, source, ((None, value) for value in (*values, None)))
    names = {"source": source, "servers": servers, "registry": registry.url}
    names |= {"columns": columns, "options": options}
    job = BoundedRun(spark, NAMES, tmp_path / "job", names)
    job()
    assert list(job.rows("names").values()) == [{"id": 2, "name": "Ben"}]


def test_an_update_without_its_old_row_ends_the_job(
    spark: SparkSession, broker: Broker, registry: Registry, topic: Topics, tmp_path: Path
) -> None:
    servers, source, api = broker.bootstrap_servers, topic("users"), Api(registry.url)
    schema = api.register(f"{source}-value", DEBEZIUMS)
    produce(servers, source, [(None, debezium(schema, "u", None, BEN))])
    names = {"source": source, "servers": servers, "registry": registry.url}
    names |= {"columns": "(id INT NOT NULL, name STRING)", "options": ""}
    with pytest.raises(StreamtableError, match="REPLICA IDENTITY FULL") as ended:
        BoundedRun(spark, NAMES, tmp_path / "job", names)()
    assert ended.value.condition is Condition.RECORD_UNREADABLE
