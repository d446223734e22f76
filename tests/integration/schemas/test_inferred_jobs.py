"""Scripts read and write topics of another script with the columns of registered schemas."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streamtable.testing.jobs import BoundedRun

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker
    from streamtable.devbroker.registry import Registry

FORMATS = ("avro-confluent", "json-confluent", "protobuf-confluent")
TABLE = """
CREATE TABLE {table} {columns} WITH (
  'connector' = '{connector}', 'topic' = '${{topic}}-{short}',
  'properties.bootstrap.servers' = '${{servers}}', {formats}
);
"""
COLUMNS = "(id BIGINT NOT NULL, name STRING, part ROW<n INT, tags ARRAY<STRING>>)"
KEYED = "(id BIGINT, name STRING, part ROW<n INT>, PRIMARY KEY (id) NOT ENFORCED)"
CATALOG = """
CREATE CATALOG topics WITH (
  'type' = 'schema-registry', 'schema-registry.url' = '${registry}',
  'properties.bootstrap.servers' = '${servers}', 'upsert-topics' = '*-keyed'
);
"""


def made(table: str, short: str, format_: str, columns: str) -> str:
    if short == "keyed":
        formats = ", ".join(
            f"'{side}.format' = '{format_}', '{side}.{format_}.url' = '${{registry}}'"
            for side in ("key", "value")
        )
        formats += ", 'value.fields-include' = 'EXCEPT_KEY'"
        connector = "upsert-kafka"
    else:
        formats = f"'format' = '{format_}', '{format_}.url' = '${{registry}}'"
        formats += ", 'scan.startup.mode' = 'earliest-offset'"
        connector = "kafka"
    return TABLE.format(
        table=table, columns=columns, connector=connector, short=short, formats=formats
    )


TARGET = """
CREATE TABLE copied (kind STRING, id BIGINT, name STRING, n INT,
  PRIMARY KEY (kind, id) NOT ENFORCED)
WITH ('connector' = 'upsert-kafka', 'topic' = '${topic}-copied',
  'properties.bootstrap.servers' = '${servers}', 'key.format' = 'json', 'value.format' = 'json');
"""


def test_columns_come_from_the_registry(
    spark: SparkSession, broker: Broker, registry: Registry, topic: Topics, tmp_path: Path
) -> None:
    names = {
        "topic": topic("inferred"),
        "servers": broker.bootstrap_servers,
        "registry": registry.url,
    }
    shorts = {format_.partition("-")[0]: format_ for format_ in FORMATS}
    first = "".join(made(short, short, format_, COLUMNS) for short, format_ in shorts.items())
    first += made("keyed", "keyed", "avro-confluent", KEYED)
    row = "CAST(1 AS BIGINT), 'Ada', ROW(7, ARRAY['x'])"
    for short in shorts:
        first += f"INSERT INTO {short} SELECT {row};"
    first += "INSERT INTO keyed SELECT CAST(1 AS BIGINT), 'Ada', ROW(7);"
    BoundedRun(spark, first, tmp_path / "first", names)()

    tables = "".join(made(short, short, format_, "") for short, format_ in shorts.items())
    tables += made("keyed", "keyed", "avro-confluent", "") + CATALOG
    again = tables + "".join(
        f"INSERT INTO {short} SELECT id + 1, name, part FROM (VALUES"
        f" (CAST(1 AS BIGINT), 'Bo', ROW(8, ARRAY['y']))) AS v (id, name, part);"
        for short in shorts
    )
    again += (
        "INSERT INTO topics.kafka.`${topic}-keyed`"
        " SELECT CAST(2 AS BIGINT), 'Bo', CAST(ROW(8) AS ROW<n INT>);"
    )
    BoundedRun(spark, again, tmp_path / "again", names)()

    last = tables + TARGET
    reads = [*shorts, "keyed"]
    last += "INSERT INTO copied " + " UNION ALL ".join(
        f"SELECT '{table}', id, name, part.n FROM {table}" for table in reads
    )
    last += " UNION ALL SELECT 'catalog', id, name, part.n FROM topics.kafka.`${topic}-keyed`;"
    copy = BoundedRun(spark, last, tmp_path / "last", names)
    copy()
    found = {key: (row["name"], row["n"]) for key, row in copy.rows("copied").items()}
    expected = {}
    for kind in (*reads, "catalog"):
        expected |= {(kind, 1): ("Ada", 7), (kind, 2): ("Bo", 8)}
    assert found == expected
