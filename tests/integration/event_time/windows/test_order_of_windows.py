"""If windows of a group share a sink key, the last window is written last, as in Flink."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest
from tests.integration.event_time.support import SOURCE, Event, millis, send

from streamtable.testing.jobs import BoundedRun

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

_KEYS = 6
_WINDOW = "TABLE events, DESCRIPTOR(ts), INTERVAL '10' SECOND"
_GROUPED = "GROUP BY k, window_start, window_end"
_COUNTS = f"SELECT k, window_end AS e, COUNT(*) AS n FROM TABLE(TUMBLE({_WINDOW})) {_GROUPED}"
#: Each query returns the end and the number of rows of a key's last window.
_QUERIES = {
    "tumbled": _COUNTS,
    "hopped": "SELECT k, window_end, COUNT(DISTINCT v) FROM TABLE(HOP(TABLE events,"
    f" DESCRIPTOR(ts), INTERVAL '10' SECOND, INTERVAL '10' SECOND)) {_GROUPED}",
    "valued": f"SELECT k, LAST_VALUE(e), LAST_VALUE(n) FROM ({_COUNTS}) GROUP BY k",
    "arrived": "SELECT k, LAST_VALUE(e) OVER w, LAST_VALUE(n) OVER w FROM"
    f" (SELECT k, n, e, PROCTIME() AS p FROM ({_COUNTS}))"
    " WINDOW w AS (PARTITION BY k ORDER BY p)",
    "joined": f"SELECT l.k, l.window_end, l.n FROM"
    f" (SELECT k, window_start, window_end, COUNT(*) AS n FROM TABLE(TUMBLE({_WINDOW}))"
    f" {_GROUPED}) AS l JOIN (SELECT k, window_start, window_end FROM TABLE(TUMBLE({_WINDOW}))"
    f" {_GROUPED}) AS r ON l.k = r.k AND l.window_start = r.window_start"
    " AND l.window_end = r.window_end",
    "united": f"SELECT * FROM ({_COUNTS}) WHERE k < 3 UNION ALL"
    f" SELECT * FROM ({_COUNTS}) WHERE k >= 3",
    "ranked": "SELECT k, window_end, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY"
    " window_start, window_end, k ORDER BY n DESC) AS place FROM (SELECT k, window_start,"
    f" window_end, COUNT(*) AS n FROM TABLE(TUMBLE({_WINDOW})) {_GROUPED})) WHERE place <= 1",
}
_FIRST = "ts < TIMESTAMP '2026-03-01 00:00:10'"
_TIMED = f"""(SELECT k, COUNT(*) AS n, window_end AS e, window_time AS t
FROM TABLE(TUMBLE({_WINDOW})) {_GROUPED}, window_time) AS c"""
#: The same for windows that are joined with the rows of a table.
_JOINED = {
    "appended": f"SELECT c.* FROM (SELECT k, n, e FROM ({_COUNTS})) AS c"
    f" JOIN (SELECT k FROM events WHERE v = 0 AND {_FIRST}) AS o ON c.k = o.k",
    "appended_left": f"SELECT c.* FROM (SELECT k FROM events WHERE v = 0 AND {_FIRST}) AS o"
    f" JOIN (SELECT k, n, e FROM ({_COUNTS})) AS c ON c.k = o.k",
    # With the start of the window, the joined rows have a key.
    "changed": f"SELECT c.k, c.n, c.e FROM (SELECT window_start, {_COUNTS[7:]}) AS c"
    f" LEFT JOIN (SELECT k, COUNT(*) AS m FROM events WHERE {_FIRST} GROUP BY k) AS o ON c.k = o.k",
    "in_interval": f"SELECT c.k, c.n, c.e FROM {_TIMED} JOIN events AS o ON c.k = o.k"
    " AND o.ts BETWEEN c.t - INTERVAL '9.999' SECOND AND c.t",
}
_SINK = """
CREATE TABLE {name} ({columns}, PRIMARY KEY (k) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${{source}}-{name}',
  'properties.bootstrap.servers' = '${{servers}}', 'key.format' = 'json', 'value.format' = 'json'
);
INSERT INTO {name} {query};
"""
_COLUMNS = ("k INT, e TIMESTAMP(3), n BIGINT", "k INT, n BIGINT, e TIMESTAMP(3)")


@pytest.mark.parametrize(
    "queries",
    [
        pytest.param(("tumbled", "valued", "arrived"), id="aggregates"),
        pytest.param(tuple(_JOINED), id="joins"),
        pytest.param(("hopped", "joined", "united", "ranked"), id="others", marks=pytest.mark.soak),
    ],
)
def test_the_last_window_of_a_key_is_written_last(
    queries: tuple[str, ...], spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    """Many windows end in one batch, and are distributed over tasks by group and window."""
    source = topic("windows")
    events = [
        Event(window * 10_000 + k * 100 + copy, k, copy)
        for window in range(30)
        for k in range(_KEYS)
        for copy in range(1 + (window * 7 + k) % 5)
    ]
    script = SOURCE
    for name in queries:
        query = _QUERIES.get(name) or _JOINED[name]
        script += _SINK.format(name=name, query=query, columns=_COLUMNS[name in _JOINED])
    names = {"source": source, "servers": broker.bootstrap_servers}
    job = BoundedRun(spark, script, tmp_path / "c", names)
    # The first windows end in the second run.
    for number, part in enumerate((events[: _KEYS * 20], events[_KEYS * 20 :])):
        send(broker.bootstrap_servers, source, part)
        job(drain=number == 1)

    sizes = Counter((e.k, (e.ms or 0) // 10_000) for e in events)
    expected = {k: (300_000, sizes[k, 29]) for k in range(_KEYS)}
    found = {
        name: {key[0]: (millis(row["e"]), row["n"]) for key, row in job.rows(name).items()}
        for name in queries
    }
    assert found == dict.fromkeys(queries, expected)
