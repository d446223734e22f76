"""Results of windows go into further windows, rankings and joins, at the same watermark."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.integration.event_time.support import (
    END,
    SOURCE,
    Event,
    grouped,
    millis,
    punctual,
    send,
    tumble,
    watermark,
)

from streamtable.core.errors import StreamtableError
from streamtable.testing.histories import pieces, random_cuts
from streamtable.testing.jobs import BoundedRun

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

_TABLE = """
CREATE TABLE {name} (
  s TIMESTAMP(3), e TIMESTAMP(3), place BIGINT, k INT, n BIGINT,
  PRIMARY KEY (s, e, place) NOT ENFORCED
) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${{source}}-{name}',
  'properties.bootstrap.servers' = '${{servers}}', 'key.format' = 'json', 'value.format' = 'json'
);
INSERT INTO {name} {query};
"""
_PER_WINDOW = """
SELECT window_start, window_end, window_time, k, SUM(v) AS n
FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '10' SECOND))
GROUP BY window_start, window_end, window_time, k
"""
QUERIES = {
    "ranked": f"""
SELECT window_start, window_end, place, k, n FROM (
  SELECT *, ROW_NUMBER() OVER (
    PARTITION BY window_start, window_end ORDER BY n DESC, k) AS place
  FROM ({_PER_WINDOW})
) WHERE place <= 2
""",
    "last_rows": """
SELECT window_start, window_end, place, k, CAST(v AS BIGINT) FROM (
  SELECT *, ROW_NUMBER() OVER (
    PARTITION BY window_start, window_end ORDER BY ts DESC, v, k) AS place
  FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '10' SECOND))
) WHERE place <= 1
""",
    "joined": f"""
SELECT L.window_start, L.window_end, CAST(L.k AS BIGINT), L.k, SUM(R.v) FROM ({_PER_WINDOW}) AS L
LEFT JOIN (
  SELECT * FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '10' SECOND)) WHERE v > 4
) AS R
ON L.window_start = R.window_start AND L.window_end = R.window_end AND L.k = R.k AND R.v < L.n
GROUP BY L.window_start, L.window_end, L.k
""",
    "summed": f"""
SELECT window_start, window_end, COUNT(*), CAST(COUNT(*) AS INT), SUM(n)
FROM TABLE(TUMBLE((SELECT window_time AS ended, n FROM ({_PER_WINDOW})), DESCRIPTOR(ended),
  INTERVAL '30' SECOND))
GROUP BY window_start, window_end
""",
}


@pytest.mark.parametrize(
    ("seed", "cuts"),
    [(81, 1), *(pytest.param(seed, 2, marks=pytest.mark.soak) for seed in range(81, 86))],
)
def test_windows_over_windows(
    seed: int, cuts: int, spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    source = topic("events", partitions=2)
    names = {"source": source, "servers": broker.bootstrap_servers}
    script = SOURCE + "".join(_TABLE.format(name=n, query=q) for n, q in QUERIES.items())
    job = BoundedRun(spark, script, tmp_path / "job", names)
    events = punctual(seed, 30, {0: 0, 1: 20_000})
    for piece in pieces(events, random_cuts(seed, len(events), cuts)):
        send(broker.bootstrap_servers, source, piece)
        job()
    _check(job, _expected(events, watermark(events, range(2))), seed)
    job(drain=True)
    # The results of windows at the end of the input also reach the windows above them.
    _check(job, _expected(events, END), seed)
    assert not any("watermark had passed" in n for n in job.notices), job.notices
    send(broker.bootstrap_servers, source, events[:1])
    with pytest.raises(StreamtableError, match="has ended"):
        job()


def _check(job: BoundedRun, expected: dict[str, set[tuple[int, ...]]], seed: int) -> None:
    for name in QUERIES:
        assert len(expected[name]) > 1
        found = {
            (millis(r["s"]), millis(r["e"]), r["place"], r["k"], r["n"])
            for r in job.rows(name).values()
        }
        assert found == expected[name], f"{name}, seed {seed}"


def _expected(events: list[Event], passed: int) -> dict[str, set[tuple[int | None, ...]]]:
    sums = {key: sum(e.v for e in rows) for key, rows in _closed(events, 10_000, passed).items()}
    found: dict[str, set[tuple[int | None, ...]]] = {name: set() for name in QUERIES}
    for (s, e, k), rows in _closed(events, 10_000, passed).items():
        met = [row.v for row in rows if 4 < row.v < sums[s, e, k]]
        found["joined"].add((s, e, k, k, sum(met) if met else None))
    for s, e in {(s, e) for s, e, _ in sums}:
        order = sorted((-n, k) for (start, _, k), n in sums.items() if start == s)
        for place, (n, k) in enumerate(order[:2], start=1):
            found["ranked"].add((s, e, place, k, -n))
        rows = [
            r
            for (start, _, _), group in _closed(events, 10_000, passed).items()
            for r in group
            if start == s
        ]
        last = min(rows, key=lambda r: (-(r.ms or 0), r.v, r.k))
        found["last_rows"].add((s, e, 1, last.k, last.v))
    for s in {s // 30_000 * 30_000 for s, _, _ in sums}:
        if s + 30_000 - 1 <= passed:
            inside = [n for (start, _, _), n in sums.items() if s <= start < s + 30_000]
            found["summed"].add((s, s + 30_000, len(inside), len(inside), sum(inside)))
    return found


def _closed(events: list[Event], size: int, passed: int) -> dict[tuple[int, int, int], list[Event]]:
    found = grouped(events, lambda ms: tumble(ms, size))
    return {key: rows for key, rows in found.items() if key[1] - 1 <= passed}
