"""Jobs over json-confluent tables on a real broker and a real schema registry."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
from tests.integration.formats.registry_double import RegistryDouble
from tests.integration.jobs.records.registry_api import Api

from streamtable.core.errors import Condition, StreamtableError
from streamtable.testing.jobs import BoundedRun
from streamtable.testing.topics import produce, records

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker
    from streamtable.devbroker.registry import Registry

COLUMNS = """id BIGINT NOT NULL, name STRING, price DECIMAL(10, 2), seen TIMESTAMP(3), day DATE,
  tags ARRAY<STRING>, counts MAP<STRING, INT>, place ROW<city STRING, zip INT NOT NULL>,
  ratio DOUBLE, data BYTES, ok BOOLEAN"""
SCRIPT = """
CREATE TABLE given (${columns}) WITH (
  'connector' = 'kafka', 'topic' = '${source}', 'properties.bootstrap.servers' = '${servers}',
  'scan.startup.mode' = 'earliest-offset', 'format' = 'json'
);
CREATE TABLE stored (${columns} ${more}, PRIMARY KEY (id) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${source}-out',
  'properties.bootstrap.servers' = '${servers}', 'key.format' = 'json',
  'value.format' = 'json-confluent', 'value.json-confluent.url' = '${registry}'
);
INSERT INTO stored SELECT * ${value} FROM given;
"""
COPY = """
CREATE TABLE stored (${columns}, PRIMARY KEY (id) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${source}-out',
  'properties.bootstrap.servers' = '${servers}', 'key.format' = 'json',
  'value.format' = 'json-confluent', 'value.json-confluent.url' = '${registry}'
);
CREATE TABLE copy (${columns}, PRIMARY KEY (id) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${source}-copy',
  'properties.bootstrap.servers' = '${servers}', 'key.format' = 'json', 'value.format' = 'json'
);
INSERT INTO copy SELECT * FROM stored;
"""
ROWS: list[dict[str, Any]] = [
    {
        "id": 1,
        "name": "Ada",
        "price": 12.5,
        "seen": "2026-01-31 12:00:00.25",
        "day": "2026-01-31",
        "tags": ["a", None],
        "counts": {"x": 1},
        "place": {"city": "Kyoto", "zip": 600},
        "ratio": 0.5,
        "data": "AQI=",
        "ok": True,
    },
    {"id": 2},
]


def test_registered_schemas_match_the_written_rows(
    spark: SparkSession, broker: Broker, registry: Registry, topic: Topics, tmp_path: Path
) -> None:
    servers, source, api = broker.bootstrap_servers, topic("given"), Api(registry.url)
    produce(servers, source, ((None, json.dumps(row).encode()) for row in ROWS))
    names = {"source": source, "servers": servers, "registry": registry.url, "columns": COLUMNS}
    BoundedRun(spark, SCRIPT, tmp_path / "job", {**names, "more": "", "value": ""})()

    written = [record.value() for record in records(servers, f"{source}-out")]
    assert len(written) == len(ROWS)
    for value in written:
        assert value[:1] == b"\0"
        found = api.ask(f"/schemas/ids/{int.from_bytes(value[1:5], 'big')}")
        assert found["schemaType"] == "JSON"
        jsonschema.validate(json.loads(value[5:]), json.loads(found["schema"]))
    copy = BoundedRun(spark, COPY, tmp_path / "copy", names)
    copy()
    full = dict.fromkeys(ROWS[0])
    assert copy.rows("copy") == {(row["id"],): {**full, **row} for row in ROWS}

    # A new nullable column is compatible, a changed type of a column is not.
    added = {"more": ", extra INT", "value": ", 5"}
    BoundedRun(spark, SCRIPT, tmp_path / "added", {**names, **added})()
    *_, newest = records(servers, f"{source}-out")
    assert json.loads(newest.value()[5:])["extra"] == 5
    names["columns"] = COLUMNS.replace("price DECIMAL(10, 2)", "price BOOLEAN")
    with pytest.raises(StreamtableError) as refused:
        BoundedRun(spark, SCRIPT, tmp_path / "changed", {**names, "more": "", "value": ""})()
    assert refused.value.condition is Condition.SCHEMA_INCOMPATIBLE


DEAD = """
CREATE TABLE given (id BIGINT) WITH (
  'connector' = 'kafka', 'topic' = '${source}', 'properties.bootstrap.servers' = '${servers}',
  'scan.startup.mode' = 'earliest-offset', 'scan.dead-letter.topic' = '${source}-dead',
  'format' = '${format}', '${format}.url' = '${registry}'
);
CREATE TABLE ids (id BIGINT) WITH (
  'connector' = 'kafka', 'topic' = '${source}-out', 'properties.bootstrap.servers' = '${servers}',
  'format' = 'json'
);
INSERT INTO ids SELECT id FROM given;
"""


@pytest.mark.parametrize("format_", ["avro-confluent", "json-confluent"])
def test_an_outage_of_the_registry_makes_no_dead_letters(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path, format_: str
) -> None:
    servers, source = broker.bootstrap_servers, topic("given")
    topic_of = {"source": source, "servers": servers, "format": format_}
    produce(servers, source, [(None, b"\0\0\0\0\1\2\2")])
    with RegistryDouble() as double:
        double.failures = [(503, {"message": "not now"})] * 100
        names = {**topic_of, "registry": double.url}
        with pytest.raises(StreamtableError) as ended:
            BoundedRun(spark, DEAD, tmp_path / "job", names)()
    assert ended.value.condition is Condition.RECORD_UNREADABLE
    assert "no answer from the schema registry" in str(ended.value)
    assert list(records(servers, f"{source}-dead")) == []
