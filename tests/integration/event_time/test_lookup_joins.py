"""Lookup joins by processing time with tables that do not change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from streamtable.testing.jobs import BoundedRun
from streamtable.testing.topics import produce_json

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

_SCRIPT = """
CREATE TABLE clicks (id INT, code STRING, p AS PROCTIME()) WITH (
  'connector' = 'kafka', 'topic' = '${source}', 'scan.startup.mode' = 'earliest-offset',
  'properties.bootstrap.servers' = '${servers}', 'format' = 'json'
);
CREATE VIEW regions AS
SELECT * FROM (VALUES ('a', 'Asia', 0), ('a', 'Africa', 2), ('e', 'Europe', 0), ('n', 'none', 99),
  (CAST(NULL AS STRING), 'null', 0)) AS r (code, region, least);
CREATE TABLE o (id INT, region STRING, km BIGINT, PRIMARY KEY (id, region) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${source}-o',
  'properties.bootstrap.servers' = '${servers}', 'key.format' = 'json', 'value.format' = 'json'
);
INSERT INTO o SELECT c.id, COALESCE(r.region, '-'), s.km FROM clicks AS c
LEFT JOIN regions FOR SYSTEM_TIME AS OF c.p AS r ON c.code = r.code AND c.id >= r.least
LEFT JOIN sizes FOR SYSTEM_TIME AS OF c.p AS s ON s.name = r.region AND s.km > 100;
"""
_SIZES = [("Asia", 8_000), ("Africa", None), ("Europe", 5_000), ("none", 1)]


def test_rows_find_all_their_matches(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    """Rows find several matches, one or none, first in a micro-batch, then in real-time mode."""
    source, servers = topic("clicks"), broker.bootstrap_servers
    names = {"source": source, "servers": servers}
    frames = {"sizes": spark.createDataFrame(_SIZES, "name STRING, km BIGINT")}
    job = BoundedRun(spark, _SCRIPT, tmp_path / "c", names, frames)
    codes = ["a", "e", "a", "n", None]
    _send(servers, source, codes, 0)
    job()
    expected = {(0, "Asia"), (1, "Europe"), (2, "Asia"), (2, "Africa"), (3, "-"), (4, "-")}
    assert set(job.rows("o")) == expected
    sizes = {region: row["km"] for (_, region), row in job.rows("o").items()}
    assert sizes == {"Asia": 8_000, "Africa": None, "Europe": 5_000, "-": None}
    _send(servers, source, codes, 5)
    expected |= {(5, "Asia"), (5, "Africa"), (6, "Europe"), (7, "Asia"), (7, "Africa")}
    expected |= {(8, "-"), (9, "-")}
    settings = {"execution.mode": "real-time"}
    job.until(lambda: set(job.rows("o")) == expected, settings)


def _send(servers: str, topic: str, codes: list[str | None], first: int) -> None:
    rows: list[dict[str, Any]] = [{"id": first + i, "code": code} for i, code in enumerate(codes)]
    produce_json(servers, topic, rows)
