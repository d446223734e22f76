"""Several kinds of changed queries, upgraded together: each topic equals that of a fresh job."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.integration.upgrade.support import COPY, Jobs

from streamtable.testing.topics import produce

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

_SINK = """
CREATE TABLE {name} ({columns}, PRIMARY KEY ({key}) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${{out}}-{name}',
  'properties.bootstrap.servers' = '${{servers}}',
  'key.format' = 'json', 'value.format' = 'json'{options}
);
"""
_SOURCES = """
CREATE TABLE e (
  id INT, g INT, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND
) WITH (
  'connector' = 'kafka', 'topic' = '${source}', 'scan.startup.mode' = 'earliest-offset',
  'properties.bootstrap.servers' = '${servers}', 'format' = 'json'
);
CREATE TABLE names (g INT, name STRING, PRIMARY KEY (g) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${source}-names',
  'properties.bootstrap.servers' = '${servers}', 'key.format' = 'json', 'value.format' = 'json'
);
"""
_WINDOWS = (
    "INSERT INTO wide SELECT window_start, g, COUNT(*) FROM"
    " TABLE(TUMBLE(TABLE e, DESCRIPTOR(ts), INTERVAL '{}' SECOND)) GROUP BY window_start, g;"
)
#: Name -> the query before and after the upgrade.
_QUERIES = {
    "aggregate": (
        "INSERT INTO aggregate SELECT g, CAST(COUNT(*) AS INT) FROM e GROUP BY g;",
        "INSERT INTO aggregate SELECT g, MAX(v) FROM e GROUP BY g;",
    ),
    "columns": (
        "INSERT INTO columns SELECT g, COUNT(*) FROM e GROUP BY g;",
        "INSERT INTO columns SELECT g, COUNT(*), COUNT(DISTINCT v) FROM e GROUP BY g;",
    ),
    "joined": (
        "INSERT INTO joined SELECT id, v, CAST(NULL AS STRING) FROM e;",
        "INSERT INTO joined SELECT id, v, name FROM e JOIN names ON e.g = names.g;",
    ),
    "wide": (_WINDOWS.format(10), _WINDOWS.format(20)),
    # Only the time zone of the session differs.
    "zoned": ("INSERT INTO zoned SELECT id, DATE_FORMAT(TO_TIMESTAMP_LTZ(id, 0), 'HH:mm') FROM e;",)
    * 2,
    # Only an option of the sink's key differs.
    "respelled": (_WINDOWS.replace("wide", "respelled").format(10),) * 2,
}


def _tables(more: str, zone: str, respelled: str = "") -> str:
    sinks = {
        "aggregate": ("g INT, n INT", "g"),
        "columns": (f"g INT, n BIGINT{more}", "g"),
        "joined": ("id INT, v INT, name STRING", "id"),
        "wide": ("w TIMESTAMP(3), g INT, n BIGINT", "w, g"),
        "zoned": ("id INT, at STRING", "id"),
        "respelled": ("w TIMESTAMP(3), g INT, n BIGINT", "w, g"),
    }
    found = (
        _SINK.format(name=n, columns=c, key=k, options=respelled if n == "respelled" else "")
        for n, (c, k) in sinks.items()
    )
    return f"SET 'table.local-time-zone' = '{zone}';" + _SOURCES + "".join(found)


def _events(start: int, end: int) -> list[dict[str, Any]]:
    return [
        {"id": i, "g": i % 5, "v": i * i % 17, "ts": f"2026-01-01 00:{i // 60:02}:{i % 60:02}"}
        for i in range(start, end)
    ]


def test_each_topic_equals_that_of_a_fresh_job(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    servers, source = broker.bootstrap_servers, topic("kinds", partitions=2)
    names = [({"g": g}, {"g": g, "name": f"group {g}"}) for g in range(4)]
    topic_of_names = f"{source}-names"
    jobs = Jobs(spark, servers, source, tmp_path / "c", "at-least-once")
    jobs.create(topic_of_names)
    pairs = [(json.dumps(k).encode(), json.dumps(v).encode()) for k, v in names]
    produce(servers, topic_of_names, pairs)
    copies = jobs.tables
    jobs.tables = copies + _tables("", "UTC")
    jobs.send(_events(0, 200))
    jobs.run(*(before for before, _ in _QUERIES.values()), COPY)
    old = {name: (len(jobs.written(name)), jobs.folded(name)) for name in _QUERIES}

    new = [after for _, after in _QUERIES.values()]
    iso = ", 'key.json.timestamp-format.standard' = 'ISO-8601'"
    jobs.tables = copies + _tables(", d BIGINT", "Asia/Tokyo", iso)
    said = jobs.upgrade(*new, COPY)
    assert [line for line in said if line.startswith("copies:")] == ["copies: kept: continues"]
    fresh = jobs.fresh(tmp_path / "fresh")
    fresh.run(*new)
    for name, (records, rows) in old.items():
        expected = fresh.folded(name)
        assert jobs.folded(name) == expected, name
        differing = [k for k in {**rows, **expected} if rows.get(k) != expected.get(k)]
        assert len(jobs.written(name)) - records == len(differing) > 0, (name, said)

    jobs.send(_events(200, 260))
    jobs.run(*new, COPY)
    fresh.run(*new)
    for name in _QUERIES:
        assert jobs.folded(name) == fresh.folded(name), name
    assert set(jobs.copied().values()) == {1}
