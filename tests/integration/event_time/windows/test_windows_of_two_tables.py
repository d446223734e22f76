"""Windows over two tables in one query: united, joined, and summed by further windows."""

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

from streamtable.testing.histories import pieces, random_cuts
from streamtable.testing.jobs import BoundedRun

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

_OTHERS = SOURCE.replace("CREATE TABLE events", "CREATE TABLE others").replace(
    "${source}", "${others}"
)
_TABLE = """
CREATE TABLE {name} (
  s TIMESTAMP(3), place INT, n BIGINT, m BIGINT, PRIMARY KEY (s, place) NOT ENFORCED
) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${{source}}-{name}',
  'properties.bootstrap.servers' = '${{servers}}', 'key.format' = 'json', 'value.format' = 'json'
);
INSERT INTO {name} {query};
"""


def _sums(table: str, seconds: int) -> str:
    return f"""
SELECT window_start AS s, window_time AS t, CAST(SUM(v) AS BIGINT) AS n
FROM TABLE(TUMBLE(TABLE {table}, DESCRIPTOR(ts), INTERVAL '{seconds}' SECOND))
GROUP BY window_start, window_end, window_time
"""


QUERIES = {
    "united": f"""
SELECT s, 1, n, CAST(NULL AS BIGINT) FROM ({_sums("events", 10)})
UNION ALL SELECT s, 2, n, CAST(NULL AS BIGINT) FROM ({_sums("others", 20)})
""",
    "joined": f"""
SELECT a.s, 1, a.n, b.n FROM ({_sums("events", 10)}) AS a
LEFT JOIN ({_sums("others", 10)}) AS b ON a.s = b.s
""",
    "summed": f"""
SELECT window_start, 1, SUM(n), COUNT(*) FROM TABLE(TUMBLE(
  (SELECT t, n FROM ({_sums("events", 10)}) UNION ALL SELECT t, n FROM ({_sums("others", 20)})),
  DESCRIPTOR(t), INTERVAL '40' SECOND)) GROUP BY window_start, window_end
""",
}
Row = tuple[int, int, int, int | None]


@pytest.mark.parametrize(
    ("seed", "cuts"),
    [(71, 1), *(pytest.param(seed, 2, marks=pytest.mark.soak) for seed in range(71, 76))],
)
def test_windows_of_two_tables(
    seed: int, cuts: int, spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    source, other = topic("events", partitions=2), topic("others", partitions=1)
    names = {"source": source, "others": other, "servers": broker.bootstrap_servers}
    script = SOURCE + _OTHERS
    script += "".join(_TABLE.format(name=n, query=q) for n, q in QUERIES.items())
    job = BoundedRun(spark, script, tmp_path / "job", names)
    events, others = punctual(seed, 30, {0: 0, 1: 20_000}), punctual(seed + 1, 40, {0: 0})
    for some, more in zip(
        pieces(events, random_cuts(seed, len(events), cuts)),
        pieces(others, random_cuts(seed, len(others), cuts)),
        strict=True,
    ):
        send(broker.bootstrap_servers, source, some)
        send(broker.bootstrap_servers, other, more)
        job()
    passed = min(watermark(events, range(2)), watermark(others, [0]))
    assert _expected(events, others, passed)["united"]
    _check(job, _expected(events, others, passed), seed)
    job(drain=True)
    complete = _expected(events, others, END)
    assert all(len(rows) > 1 for rows in complete.values())
    _check(job, complete, seed)
    assert not any("watermark had passed" in n for n in job.notices), job.notices


def _check(job: BoundedRun, expected: dict[str, set[Row]], seed: int) -> None:
    for name, rows in expected.items():
        found = {(millis(r["s"]), r["place"], r["n"], r["m"]) for r in job.rows(name).values()}
        assert found == rows, f"{name}, seed {seed}"


def _expected(events: list[Event], others: list[Event], passed: int) -> dict[str, set[Row]]:
    first, second = _closed(events, 10_000, passed), _closed(others, 20_000, passed)
    partners = _closed(others, 10_000, passed)
    united: set[Row] = {(s, 1, n, None) for s, n in first.items()}
    united |= {(s, 2, n, None) for s, n in second.items()}
    joined: set[Row] = {(s, 1, n, partners.get(s)) for s, n in first.items()}
    ended = [(s + 10_000 - 1, n) for s, n in first.items()]
    ended += [(s + 20_000 - 1, n) for s, n in second.items()]
    summed: set[Row] = set()
    for s in {t // 40_000 * 40_000 for t, _ in ended}:
        if s + 40_000 - 1 <= passed:
            inside = [n for t, n in ended if s <= t < s + 40_000]
            summed.add((s, 1, sum(inside), len(inside)))
    return {"united": united, "joined": joined, "summed": summed}


def _closed(events: list[Event], size: int, passed: int) -> dict[int, int]:
    """Return the sums of the windows that the watermark has passed, by their start."""
    found: dict[int, int] = {}
    for (s, e, _), rows in grouped(events, lambda ms: tumble(ms, size)).items():
        if e - 1 <= passed:
            found[s] = found.get(s, 0) + sum(event.v for event in rows)
    return found
