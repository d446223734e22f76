"""A job whose source takes its columns from a subject, which then gets newer schemas."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import fastavro
import pytest
from tests.integration.schemas.support import register

from streamtable.core.errors import Condition, StreamtableError
from streamtable.testing.jobs import BoundedRun
from streamtable.testing.topics import produce

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker
    from streamtable.devbroker.registry import Registry

SCRIPT = """
CREATE TABLE visits WITH (
  'connector' = 'kafka', 'topic' = '${topic}', 'scan.startup.mode' = 'earliest-offset',
  'properties.bootstrap.servers' = '${servers}',
  'format' = 'avro-confluent', 'avro-confluent.url' = '${registry}'
);
CREATE TABLE totals (page STRING, n BIGINT, PRIMARY KEY (page) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${topic}-totals',
  'properties.bootstrap.servers' = '${servers}', 'key.format' = 'json', 'value.format' = 'json'
);
INSERT INTO totals SELECT page, COUNT(*) FROM visits GROUP BY page;
"""
PAGE = {"name": "page", "type": "string"}


def visit(*more: dict[str, Any], **keys: str) -> dict[str, Any]:
    return {"type": "record", "name": "Visit", "fields": [PAGE, *more], **keys}


def test_a_newer_schema_continues_or_is_refused(
    spark: SparkSession, broker: Broker, registry: Registry, topic: Topics, tmp_path: Path
) -> None:
    name, servers = topic("visits"), broker.bootstrap_servers
    names = {"topic": name, "servers": servers, "registry": registry.url}
    job = BoundedRun(spark, SCRIPT, tmp_path / "checkpoint", names)

    def send(schema: dict[str, Any]) -> None:
        """Register a schema and send one record with it."""
        number = register(registry.url, f"{name}-value", schema)
        out = io.BytesIO(b"\0" + number.to_bytes(4, "big"))
        out.seek(0, io.SEEK_END)
        row = {"page": "a", "user": "Ada"}
        fastavro.schemaless_writer(out, fastavro.parse_schema(schema), row)
        produce(servers, name, [(None, out.getvalue())])

    def counted() -> dict[str, int]:
        return {row["page"]: row["n"] for row in job.rows("totals").values()}

    send(visit())
    job()
    assert counted() == {"a": 1}

    send(visit(doc="The same columns."))
    job()
    assert counted() == {"a": 2}

    user = {"name": "user", "type": ["null", "string"], "default": None}
    send(visit(user))
    with pytest.raises(StreamtableError) as refused:
        job()
    assert refused.value.condition is Condition.CHECKPOINT_MISMATCH
    assert counted() == {"a": 2}
