"""Jobs over avro-confluent tables on a real broker and a real schema registry."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import fastavro
import pytest
from confluent_kafka.admin import AdminClient
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

SCRIPT = """
CREATE TABLE views (user_id BIGINT NOT NULL, region STRING, device STRING) WITH (
  'connector' = 'kafka', 'topic' = '${source}',
  'properties.bootstrap.servers' = '${servers}', 'scan.startup.mode' = 'earliest-offset',
  'format' = 'avro-confluent', 'avro-confluent.url' = '${registry}'
);
CREATE TABLE regions (region STRING, views ${count}, PRIMARY KEY (region) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${source}-out',
  'properties.bootstrap.servers' = '${servers}',
  'key.format' = 'avro-confluent', 'key.avro-confluent.url' = '${registry}',
  'value.format' = 'avro-confluent', 'value.avro-confluent.url' = '${registry}'
);
INSERT INTO regions SELECT region, ${what} FROM views GROUP BY region;
"""
READ_BACK = """
CREATE TABLE regions (region STRING, views BIGINT, PRIMARY KEY (region) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${source}-out',
  'properties.bootstrap.servers' = '${servers}',
  'key.format' = 'avro-confluent', 'key.avro-confluent.url' = '${registry}',
  'value.format' = 'avro-confluent', 'value.avro-confluent.url' = '${registry}'
);
CREATE TABLE totals (what STRING, n BIGINT, PRIMARY KEY (what) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${source}-totals',
  'properties.bootstrap.servers' = '${servers}', 'key.format' = 'json', 'value.format' = 'json'
);
INSERT INTO totals SELECT 'all', SUM(views) FROM regions GROUP BY 'all';
"""
OLD = [{"name": "region", "type": "string"}, {"name": "user_id", "type": "int"}]
NEW = [
    {"name": "user_id", "type": "long"},
    {"name": "extra", "type": {"type": "map", "values": "double"}, "default": {}},
    {"name": "device", "type": ["null", "string"], "default": None},
    {"name": "region", "type": "string"},
]


def view(fields: list[Any]) -> dict[str, Any]:
    return {"type": "record", "name": "View", "fields": fields}


def record(schema_id: int, fields: list[Any], row: dict[str, Any]) -> bytes:
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(view(fields)), row)
    return header(schema_id) + out.getvalue()


def read_all(servers: str, topic: str, api: Api) -> list[tuple[Any, Any]]:
    return [(api.read(r.key()), api.read(r.value())) for r in records(servers, topic)]


def test_schema_evolution(
    spark: SparkSession, broker: Broker, registry: Registry, topic: Topics, tmp_path: Path
) -> None:
    servers, source, api = broker.bootstrap_servers, topic("views"), Api(registry.url)
    old, new = (api.register(f"{source}-value", view(fields)) for fields in (OLD, NEW))
    views = [
        record(old, OLD, {"region": "a", "user_id": 1}),
        record(new, NEW, {"user_id": 2**40, "extra": {"x": 1.5}, "device": "d", "region": "a"}),
        record(old, OLD, {"region": "b", "user_id": 3}),
    ]
    produce(servers, source, ((None, value) for value in views))
    names = {"source": source, "servers": servers, "registry": registry.url}
    counts = {"count": "BIGINT", "what": "COUNT(*)"}
    BoundedRun(spark, SCRIPT, tmp_path / "job", {**names, **counts})()

    written = read_all(servers, f"{source}-out", api)
    assert {key["region"]: value for key, value in written} == {
        "a": {"region": "a", "views": 2},
        "b": {"region": "b", "views": 1},
    }
    assert {f"{source}-out-key", f"{source}-out-value"} <= set(api.ask("/subjects"))
    totals = BoundedRun(spark, READ_BACK, tmp_path / "totals", names)
    totals()
    assert list(totals.rows("totals").values()) == [{"what": "all", "n": 3}]

    # The same job with another type of a column is refused before it writes anything.
    changed = {"count": "STRING", "what": "CAST(COUNT(*) AS STRING)"}
    with pytest.raises(StreamtableError) as refused:
        BoundedRun(spark, SCRIPT, tmp_path / "changed", {**names, **changed})()
    assert refused.value.condition is Condition.SCHEMA_INCOMPATIBLE
    assert f"subject '{source}-out-value'" in str(refused.value)
    assert "\n" not in str(refused.value)
    assert len(read_all(servers, f"{source}-out", api)) == len(written)


def test_an_incompatible_schema_is_refused_before_the_first_write(
    spark: SparkSession, broker: Broker, registry: Registry, topic: Topics, tmp_path: Path
) -> None:
    source, api = topic("views"), Api(registry.url)
    api.register(f"{source}-out-value", view([{"name": "views", "type": "string"}]))
    names = {"source": source, "servers": broker.bootstrap_servers, "registry": registry.url}
    counts = {"count": "BIGINT", "what": "COUNT(*)"}
    with pytest.raises(StreamtableError) as refused:
        BoundedRun(spark, SCRIPT, tmp_path / "job", {**names, **counts})()
    assert refused.value.condition is Condition.SCHEMA_INCOMPATIBLE
    assert f"subject '{source}-out-value'" in str(refused.value)
    assert refused.value.at is not None, "at the table"
    assert f"{source}-out-key" not in api.ask("/subjects")
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    assert f"{source}-out" not in admin.list_topics(timeout=30).topics


def test_a_record_without_the_magic_byte_ends_the_job(
    spark: SparkSession, broker: Broker, registry: Registry, topic: Topics, tmp_path: Path
) -> None:
    source = topic("views")
    produce(broker.bootstrap_servers, source, [(None, b'{"user_id":1}')])
    names = {"source": source, "servers": broker.bootstrap_servers, "registry": registry.url}
    counts = {"count": "BIGINT", "what": "COUNT(*)"}
    with pytest.raises(StreamtableError) as ended:
        BoundedRun(spark, SCRIPT, tmp_path / "job", {**names, **counts})()
    assert ended.value.condition is Condition.RECORD_UNREADABLE
    assert f"topic '{source}' partition 0 offset 0: value is not valid avro-confluent" in str(
        ended.value
    )
    assert "the magic byte is 0x7b" in str(ended.value)


def test_an_unreachable_registry_is_reported(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    names = {"source": topic("views"), "servers": broker.bootstrap_servers}
    more = {"registry": "http://127.0.0.1:1", "count": "BIGINT", "what": "COUNT(*)"}
    with pytest.raises(StreamtableError) as ended:
        BoundedRun(spark, SCRIPT, tmp_path / "job", {**names, **more})()
    assert ended.value.condition is Condition.SCHEMA_REGISTRY_UNREACHABLE
