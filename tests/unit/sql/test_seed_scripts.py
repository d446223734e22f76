"""Scripts of the requirements documents, exactly as these documents print them."""

from __future__ import annotations

import pytest

from streamtable.core.table import Schema
from streamtable.sql.dialect import flink_sql
from streamtable.sql.parse import parse_script
from streamtable.sql.statements.model import CreateTable, Insert

PAGEVIEWS = """\
CREATE TABLE pageviews_per_region (
  user_region STRING,
  pv BIGINT,
  uv BIGINT,
  PRIMARY KEY (user_region) NOT ENFORCED
) WITH (
  'connector' = 'upsert-kafka',
  'topic' = 'pageviews_per_region',
  'properties.bootstrap.servers' = '...',
  'key.format' = 'avro',
  'value.format' = 'avro'
);

CREATE TABLE pageviews (
  user_id BIGINT,
  page_id BIGINT,
  viewtime TIMESTAMP,
  user_region STRING,
  WATERMARK FOR viewtime AS viewtime - INTERVAL '2' SECOND
) WITH (
  'connector' = 'kafka',
  'topic' = 'pageviews',
  'properties.bootstrap.servers' = '...',
  'format' = 'json'
);

-- calculate the pv, uv and insert into the upsert-kafka sink
INSERT INTO pageviews_per_region
SELECT
  user_region,
  COUNT(*),
  COUNT(DISTINCT user_id)
FROM pageviews
GROUP BY user_region;
"""


def _columns(schema: Schema) -> str:
    """Write the declaration of a table from its parsed schema."""
    parts = [f"{c.name} {c.type.sql()}" for c in schema.columns if hasattr(c, "type")]
    parts += [f"{c.name} FROM '{c.key}'" for c in schema.metadata]
    parts += [f"{c.name} AS {flink_sql(c.expression)}" for c in schema.computed]
    if schema.primary_key:
        parts.append(f"KEY {', '.join(schema.primary_key)}")
    if schema.watermark:
        mark = schema.watermark
        parts.append(f"WATERMARK {mark.column} AS {flink_sql(mark.expression)}")
    return ", ".join(parts)


def test_pageviews() -> None:
    sink, source, insert = parse_script(PAGEVIEWS, "job.sql")

    assert isinstance(sink, CreateTable)
    assert sink.name == ("pageviews_per_region",)
    assert _columns(sink.schema) == (
        "user_region STRING NOT NULL, pv BIGINT, uv BIGINT, KEY user_region"
    )
    assert {key: given.text for key, given in sink.options.items()} == {
        "connector": "upsert-kafka",
        "topic": "pageviews_per_region",
        "properties.bootstrap.servers": "...",
        "key.format": "avro",
        "value.format": "avro",
    }
    assert str(sink.options["topic"].at) == "job.sql:8:3"
    assert isinstance(source, CreateTable)
    assert _columns(source.schema) == (
        "user_id BIGINT, page_id BIGINT, viewtime TIMESTAMP(6), user_region STRING,"
        " WATERMARK viewtime AS viewtime - INTERVAL '2' SECOND"
    )
    assert isinstance(insert, Insert)
    assert (insert.target, str(insert.at)) == (("pageviews_per_region",), "job.sql:28:1")
    assert flink_sql(insert.query) == (
        "SELECT user_region, COUNT(*), COUNT(DISTINCT user_id) FROM pageviews GROUP BY user_region"
    )


TABLES = {
    "`ts` TIMESTAMP(3) METADATA FROM 'timestamp', `user_id` BIGINT, `item_id` BIGINT,"
    " `behavior` STRING, PRIMARY KEY (`user_id`) NOT ENFORCED": (
        "ts TIMESTAMP(3), user_id BIGINT NOT NULL, item_id BIGINT, behavior STRING,"
        " ts FROM 'timestamp', KEY user_id"
    ),
    "user_id BIGINT, event_ts TIMESTAMP(3) METADATA FROM 'timestamp', proctime AS PROCTIME(),"
    " WATERMARK FOR event_ts AS event_ts - INTERVAL '5' SECOND": (
        "user_id BIGINT, event_ts TIMESTAMP(3), event_ts FROM 'timestamp', proctime AS PROCTIME(),"
        " WATERMARK event_ts AS event_ts - INTERVAL '5' SECOND"
    ),
    "order_id BIGINT, product STRING, amount DECIMAL(10, 2), created_at TIMESTAMP(3)": (
        "order_id BIGINT, product STRING, amount DECIMAL(10, 2), created_at TIMESTAMP(3)"
    ),
    "id BIGINT, value STRING": "id BIGINT, value STRING",
}


@pytest.mark.parametrize(("columns", "expected"), TABLES.items())
def test_other_tables(columns: str, expected: str) -> None:
    (table,) = parse_script(f"CREATE TABLE t ({columns}) WITH ('connector' = 'kafka')")

    assert isinstance(table, CreateTable)
    assert _columns(table.schema) == expected


def test_other_insert() -> None:
    text = (
        "INSERT INTO order_events_sink\nSELECT order_id, product, amount, created_at\n"
        "FROM orders_source\nWHERE amount > 0;"
    )
    (insert,) = parse_script(text)

    assert isinstance(insert, Insert)
    assert flink_sql(insert.query) == (
        "SELECT order_id, product, amount, created_at FROM orders_source WHERE amount > 0"
    )
