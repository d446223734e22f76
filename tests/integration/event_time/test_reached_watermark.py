"""Timers of a micro-batch fire at the watermark that the rows of the same batch reach."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka.admin import AdminClient, NewPartitions
from tests.compat.ttl.ttl_queries import TIMED
from tests.integration.event_time.support import SOURCE, Event, millis, send

from streamtable.core.changelog import RowKind
from streamtable.testing.cases import Case
from streamtable.testing.jobs import BoundedRun
from streamtable.testing.planned import planned, sink
from streamtable.testing.replay import Changes, Replay
from streamtable.testing.replayed import Recorded, Style
from streamtable.testing.topics import records

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

_TUMBLED = "TABLE(TUMBLE(TABLE a, DESCRIPTOR(ts), INTERVAL '10' SECOND))"
_PER_WINDOW = f"SELECT window_start, window_end, g, COUNT(*) AS n FROM {_TUMBLED} GROUP BY"
_SUM = "SELECT k, SUM(v) OVER (PARTITION BY g ORDER BY ts"
_NEAR = "l.g = r.g AND l.ts BETWEEN r.ts - INTERVAL '3' SECOND AND r.ts + INTERVAL '9' SECOND"
_AS_OF = "FOR SYSTEM_TIME AS OF a.ts AS p"
_QUERIES = {
    "tumbling": f"{_PER_WINDOW} window_start, window_end, g",
    "distinct": (
        f"SELECT window_start, COUNT(DISTINCT v) FROM {_TUMBLED} GROUP BY window_start, window_end"
    ),
    "hopping": (
        "SELECT window_start, g, COUNT(*) FROM TABLE(HOP(TABLE a, DESCRIPTOR(ts),"
        " INTERVAL '5' SECOND, INTERVAL '10' SECOND)) GROUP BY window_start, window_end, g"
    ),
    "sessions": (
        "SELECT window_start, window_end, g, MAX(v) FROM TABLE(SESSION(TABLE a PARTITION BY g,"
        " DESCRIPTOR(ts), INTERVAL '2' SECOND)) GROUP BY window_start, window_end, g"
    ),
    "sessions of values": (
        "SELECT window_start, g, COUNT(DISTINCT v) FROM TABLE(SESSION(TABLE a PARTITION BY g,"
        " DESCRIPTOR(ts), INTERVAL '2' SECOND)) GROUP BY window_start, window_end, g"
    ),
    "ranked": (
        "SELECT window_start, k FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start,"
        f" window_end ORDER BY v DESC, k) AS place FROM {_TUMBLED}) WHERE place <= 2"
    ),
    "ranked windows": (
        "SELECT window_start, g, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start,"
        f" window_end ORDER BY n DESC, g) AS place FROM ({_PER_WINDOW} window_start, window_end,"
        " g)) WHERE place <= 1"
    ),
    "joined windows": (
        f"SELECT l.window_start, l.n, r.n FROM ({_PER_WINDOW} window_start, window_end, g) AS l"
        f" JOIN ({_PER_WINDOW} window_start, window_end, g) AS r"
        " ON l.window_start = r.window_start AND l.window_end = r.window_end AND l.g < r.g"
    ),
    "over": f"{_SUM}) FROM a",
    "over time": f"{_SUM} RANGE BETWEEN INTERVAL '8' SECOND PRECEDING AND CURRENT ROW) FROM a",
    "sorted": "SELECT k, v FROM a ORDER BY ts",
    "matched": (
        "SELECT g, x, y FROM a MATCH_RECOGNIZE (PARTITION BY g ORDER BY ts MEASURES A.k AS x,"
        " LAST(B.k) AS y AFTER MATCH SKIP PAST LAST ROW PATTERN (A B+ C)"
        " DEFINE B AS B.v > A.v, C AS C.v < A.v)"
    ),
    "joined times": f"SELECT l.k, r.k FROM a AS l JOIN b AS r ON {_NEAR}",
    "unmatched times": f"SELECT l.k, r.k FROM a AS l FULL JOIN b AS r ON {_NEAR} AND r.v > 2",
    "versions": f"SELECT a.k, p.v FROM a LEFT JOIN p {_AS_OF} ON a.g = p.k",
    "versions of updates": (
        f"SELECT q.k, q.v, p.v FROM q LEFT JOIN p {_AS_OF.replace('a.', 'q.')} ON q.g = p.k"
    ),
}
#: Queries of two tables, of which one may be ready before the other: the watermarks of a streaming
#: query vary, and with them the late rows.
_TWO_TABLES = {"joined times", "unmatched times", "versions", "versions of updates"}

_SETTINGS = {"table.local-time-zone": "UTC"}
_COLUMNS = "k INT, g INT, v INT, s BIGINT"
_BATCHES = ((1, 4, 12, 14, 23, 31), (29, 33, 40, 41, 52), (), (70,), (99,))


def _tables(name: str, seconds: Sequence[Sequence[int]]) -> dict[str, Recorded]:
    """Return the tables of a query: `a` and `b` of inserts, `p` and `q` of upserts."""
    later = [[s + 2 for s in batch] for batch in seconds]
    updates = [[(RowKind.UPDATE_AFTER, row) for _, row in _rows(*batch)] for batch in later]
    versions = [[(kind, (g, v, s)) for kind, (_, g, v, s) in batch] for batch in updates]
    tables = {
        "a": Recorded(Style.APPEND, _COLUMNS, [_rows(*batch) for batch in seconds], TIMED),
        "b": Recorded(Style.APPEND, _COLUMNS, [_rows(*batch) for batch in later], TIMED),
        "p": Recorded(Style.UPSERT, "k INT, v INT, s BIGINT", versions, TIMED),
        "q": Recorded(Style.UPSERT, _COLUMNS, updates, TIMED),
    }
    return {
        n: t for n, t in tables.items() if re.search(rf"(FROM|JOIN|TABLE) {n}\b", _QUERIES[name])
    }


def _case(query: str, tables: Mapping[str, Recorded]) -> Case:
    fields = [column.field for column in planned(query, tables).columns]
    return Case(sink(fields), query, query)


def _rows(*moments: int) -> list[tuple[RowKind, Any]]:
    """Return rows of k, g, v and the time in seconds, two rows for each time."""
    return [(RowKind.INSERT, (s * 2 + g, g, s % 7, s)) for s in moments for g in (0, 1)]


@pytest.mark.parametrize("name", _QUERIES)
def test_rows_are_emitted_in_the_batch_that_completes_them(name: str, spark: SparkSession) -> None:
    """Batches of a streaming query emit the rows of the test harness with the same watermarks."""
    tables = _tables(name, _BATCHES)
    cases = [_case(_QUERIES[name], tables)]
    (expected,) = Replay(spark, tables, _SETTINGS, in_memory=True, reached=True).changes(cases)
    (later,) = Replay(spark, tables, _SETTINGS, in_memory=True).changes(cases)
    assert len(expected[0]) > len(later[0]) or name == "joined times"
    assert _sorted(*expected) == _sorted(*later)
    if name in _TWO_TABLES:
        return
    (ours,) = Replay(spark, tables, _SETTINGS).changes(cases)
    # A replay scans a table once per use, so the first stage may be ready before all scans.
    if name != "joined windows":
        assert [*map(_sorted, ours[:5])] == [*map(_sorted, expected[:5])]
    assert all(expected[number] for number in (0, 1, 3, 4)) or name == "matched"
    assert _sorted(*ours) == _sorted(*expected[:6])


def _sorted(*batches: Changes) -> list[str]:
    return sorted(json.dumps([kind.short, row]) for batch in batches for kind, row in batch)


@pytest.mark.parametrize(
    "name",
    [
        "sessions of values",
        "over",
        "sorted",
        "matched",
        "joined times",
        "unmatched times",
        "versions",
    ],
)
def test_rows_of_complete_times_are_not_written(name: str, spark: SparkSession) -> None:
    """Only the rows of the last time, which the watermark does not pass, go into the state."""
    tables = _tables(name, [[*range(300), 1_000]])
    cases = [_case(_QUERIES[name], tables)]
    reached = Replay(spark, tables, _SETTINGS, in_memory=True, reached=True)
    assert reached.state_writes(cases) < 30
    later = Replay(spark, tables, _SETTINGS, in_memory=True)
    assert later.state_writes(cases) > 300


_SINK = """
CREATE TABLE counted (s TIMESTAMP(3), n BIGINT) WITH (
  'connector' = 'kafka', 'topic' = '${source}-counted',
  'properties.bootstrap.servers' = '${servers}', 'format' = 'json',
  'sink.delivery-guarantee' = 'exactly-once', 'sink.transactional-id-prefix' = '${source}-txn'
);
INSERT INTO counted SELECT window_start, COUNT(*)
FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '10' SECOND))
GROUP BY window_start, window_end;
"""


@pytest.mark.parametrize("grown", [False, True])
def test_a_batch_that_runs_again_fires_the_same_windows(
    grown: bool, spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    """The sink has committed the first batch, but the query has not.

    A partition that is added before the batch runs again has no event time then.
    """
    source, servers = topic("events"), broker.bootstrap_servers
    job = BoundedRun(spark, SOURCE + _SINK, tmp_path, {"source": source, "servers": servers})
    send(servers, source, [Event(second * 1000, 1, 1) for second in range(35)])
    job()
    fired = {0: 10, 10_000: 10, 20_000: 10}
    assert _windows(servers, source) == Counter(dict.fromkeys(fired.items(), 1))

    query = tmp_path / "counted"
    assert (query / "reached" / "0").read_text().split()[0] != "none"
    shutil.rmtree(query / "commits")
    (tmp_path / "watermarks.json").unlink()
    for name in ("offsets/1", "offsets/.1.crc", "reached/1"):
        (query / name).unlink(missing_ok=True)
    if grown:
        admin = AdminClient({"bootstrap.servers": servers})
        admin.create_partitions([NewPartitions(source, 2)])[source].result(30)
        send(servers, source, [Event(40_000, 1, 1, 1)])
    job()
    send(servers, source, [Event(60_000, 1, 1, p) for p in range(1 + grown)])
    job()
    last = {30_000: 5} | ({40_000: 1} if grown else {})
    assert _windows(servers, source) == Counter(dict.fromkeys((fired | last).items(), 1))


def _windows(servers: str, source: str) -> Counter[tuple[int, int]]:
    """Return the number of records of each window in the topic, by its start and its count."""
    rows = [json.loads(record.value()) for record in records(servers, f"{source}-counted")]
    return Counter((millis(row["s"]), row["n"]) for row in rows)
