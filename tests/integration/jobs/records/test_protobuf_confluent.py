"""Jobs over protobuf-confluent tables on a real broker and a real schema registry."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from tests.integration.jobs.records.registry_api import Api
from tests.integration.jobs.records.test_json_confluent import COPY, SCRIPT

from streamtable.core.errors import Condition, StreamtableError
from streamtable.testing.jobs import BoundedRun
from streamtable.testing.topics import produce

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker
    from streamtable.devbroker.registry import Registry

COLUMNS = """id BIGINT NOT NULL, name STRING, n INT, seen TIMESTAMP(3), tags ARRAY<STRING>,
  counts MAP<STRING, INT>, place ROW<city STRING, zip INT>, ratio DOUBLE, data BYTES, ok BOOLEAN"""
ROWS = [
    {
        "id": 1,
        "name": "Ada",
        "n": 0,
        "seen": "2026-01-31 12:00:00.25",
        "tags": ["a", "b"],
        "counts": {"x": 1},
        "place": {"city": "Kyoto", "zip": None},
        "ratio": 0.5,
        "data": "AQI=",
        "ok": False,
    },
    {"id": 2},
]


def test_written_rows_are_read_back(
    spark: SparkSession, broker: Broker, registry: Registry, topic: Topics, tmp_path: Path
) -> None:
    servers, source, api = broker.bootstrap_servers, topic("given"), Api(registry.url)
    produce(servers, source, ((None, json.dumps(row).encode()) for row in ROWS))
    names = {"source": source, "servers": servers, "registry": registry.url, "columns": COLUMNS}
    script, copy_ = (
        text.replace("json-confluent", "protobuf-confluent") for text in (SCRIPT, COPY)
    )
    BoundedRun(spark, script, tmp_path / "job", {**names, "more": "", "value": ""})()
    [version] = api.ask(f"/subjects/{source}-out-value/versions")
    found = api.ask(f"/subjects/{source}-out-value/versions/{version}")
    assert found["schemaType"] == "PROTOBUF"
    copy = BoundedRun(spark, copy_, tmp_path / "copy", names)
    copy()
    full = dict.fromkeys(ROWS[0])
    assert copy.rows("copy") == {(row["id"],): {**full, **row} for row in ROWS}

    # A new column at the end is compatible, a changed type of a column is not.
    added = {"more": ", extra INT", "value": ", 5"}
    BoundedRun(spark, script, tmp_path / "added", {**names, **added})()
    assert len(api.ask(f"/subjects/{source}-out-value/versions")) == 2
    names["columns"] = COLUMNS.replace("n INT", "n STRING")
    with pytest.raises(StreamtableError) as refused:
        BoundedRun(spark, script, tmp_path / "changed", {**names, "more": "", "value": ""})()
    assert refused.value.condition is Condition.SCHEMA_INCOMPATIBLE
