"""Queries that need windows in order refuse real-time mode: different tasks emit the windows."""

from __future__ import annotations

import pytest

from streamtable.plan.rules.real_time import obstacle
from streamtable.session import Session

_TABLES = """
CREATE TABLE e (id INT, v INT, s STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH (
  'connector' = 'kafka', 'topic' = 'e', 'properties.bootstrap.servers' = 'localhost:9092',
  'format' = 'json'
);
CREATE TABLE u (id INT, n BIGINT, PRIMARY KEY (id) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = 'u', 'properties.bootstrap.servers' = 'localhost:9092',
  'key.format' = 'json', 'value.format' = 'json'
);
CREATE TABLE x (id INT, t TIMESTAMP(3), n BIGINT, PRIMARY KEY (id, t) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 'localhost:9092',
  'key.format' = 'json', 'value.format' = 'json'
);
CREATE VIEW w AS
SELECT id, window_start, window_end, window_time, COUNT(*) AS n, PROCTIME() AS p
FROM TABLE(TUMBLE(TABLE e, DESCRIPTOR(ts), INTERVAL '10' SECOND))
GROUP BY id, window_start, window_end, window_time;
CREATE VIEW z AS SELECT id, window_start, window_end, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE e, DESCRIPTOR(ts), INTERVAL '10' SECOND))
GROUP BY id, window_start, window_end;
CREATE VIEW r AS SELECT *, PROCTIME() AS p FROM e;
"""
_REASON = "windows of one key are taken in order, which Spark does in micro-batches only"
_NUMBERED = (
    "SELECT id, {} FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY id ORDER BY {}) AS i FROM {})"
    " WHERE i = 1"
)
_OVER = "SELECT id, LAST_VALUE(n) OVER (PARTITION BY id ORDER BY {}) FROM w"
_MATCH = (
    "SELECT id, n FROM {} MATCH_RECOGNIZE (PARTITION BY id ORDER BY {} MEASURES LAST(A.{}) AS n"
    " PATTERN (A B) DEFINE B AS B.id > 1)"
)
_OUTER = (
    "SELECT id, LAST_VALUE(n) FROM TABLE(TUMBLE((SELECT id, n, window_time AS t FROM w),"
    " DESCRIPTOR(t), INTERVAL '1' MINUTE)) GROUP BY id, window_start, window_end"
)

#: An INSERT with a sink materializer, which needs the changes in order.
_MATERIALIZED = (
    "INSERT INTO u SELECT id, n FROM w UNION ALL SELECT CAST(n AS INT), MAX(id) FROM u GROUP BY n"
)

#: Queries that need the windows of an id in order.
_ORDERED = {
    "last value": "SELECT id, LAST_VALUE(n) FROM w GROUP BY id",
    "first value": "SELECT id, FIRST_VALUE(n) FROM w GROUP BY id",
    "texts": "SELECT id, CHAR_LENGTH(LISTAGG(CAST(n AS STRING))) FROM w GROUP BY id",
    "array": "SELECT id, CARDINALITY(ARRAY_AGG(n)) FROM w GROUP BY id",
    "of windows": _OUTER,
    "last to arrive": _NUMBERED.format("n", "p DESC", "w"),
    "first to arrive": _NUMBERED.format("n", "p", "w"),
    "over": _OVER.format("p"),
    "match": _MATCH.format("w", "p", "n"),
    "sink materializer": _MATERIALIZED,
    "joined": "SELECT w.id, LAST_VALUE(w.n) FROM w JOIN e ON w.id = e.id GROUP BY w.id",
    "joined from the right": "SELECT w.id, LAST_VALUE(w.n) FROM e JOIN w ON w.id = e.id"
    " GROUP BY w.id",
    "joined by key": "SELECT w.id, LAST_VALUE(w.n) FROM w LEFT JOIN u ON w.id = u.id GROUP BY w.id",
    "joined in an interval": "SELECT w.id, LAST_VALUE(n) FROM w JOIN e ON w.id = e.id AND e.ts"
    " BETWEEN window_time - INTERVAL '1' MINUTE AND window_time GROUP BY w.id",
    "joined into a sink key": "INSERT INTO u SELECT w.id, w.n FROM w LEFT JOIN u ON w.id = u.id",
}
#: Queries without windows, or in which the order of windows does not matter.
_OTHERS = {
    "sum": "SELECT id, SUM(n) FROM w GROUP BY id",
    "last value of rows": "SELECT id, LAST_VALUE(v) FROM e GROUP BY id",
    "last row to arrive": _NUMBERED.format("v", "p DESC", "r"),
    "last by event time": _NUMBERED.format("n", "window_time DESC", "w"),
    "event-time over": _OVER.format("window_time"),
    "event-time match": _MATCH.format("w", "window_time", "n"),
    "match of rows": _MATCH.format("r", "p", "v"),
    "rows with windows": "SELECT id, LAST_VALUE(v) FROM e WHERE id IN (SELECT id FROM w)"
    " GROUP BY id",
    "joined into a key of windows": "INSERT INTO x SELECT z.id, window_end, z.n FROM z"
    " JOIN e ON z.id = e.id",
}


def _obstacle(query: str) -> str | None:
    session = Session()
    session.load(f"{_TABLES}{query};", "job.sql")
    (plan,) = (*session.selects, *session.plans)
    return obstacle(plan.input)


@pytest.mark.parametrize("query", _ORDERED.values(), ids=_ORDERED)
def test_windows_in_order_need_micro_batches(query: str) -> None:
    assert _obstacle(query) == _REASON


@pytest.mark.parametrize("query", _OTHERS.values(), ids=_OTHERS)
def test_queries_without_ordered_windows_run_in_real_time_mode(query: str) -> None:
    assert _obstacle(query) is None
