"""Temporal joins find the version of a row's time; interval joins find rows with near times."""

from __future__ import annotations

import random
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.event_time.support import (
    END,
    SOURCE,
    Event,
    millis,
    moment,
    punctual,
    send,
    watermark,
)

from streamtable.testing.histories import Change, pieces, random_cuts
from streamtable.testing.jobs import BoundedRun
from streamtable.testing.topics import produce_changes, produce_json, records

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

_OTHERS = """
CREATE TABLE rates (
  k INT, rate INT, at TIMESTAMP(3), WATERMARK FOR at AS at, PRIMARY KEY (k) NOT ENFORCED
) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${rates}',
  'properties.bootstrap.servers' = '${servers}', 'key.format' = 'json', 'value.format' = 'json'
);
CREATE TABLE shipments (
  k INT, w INT, sent TIMESTAMP(3), WATERMARK FOR sent AS sent - INTERVAL '2' SECOND
) WITH (
  'connector' = 'kafka', 'topic' = '${shipments}', 'scan.startup.mode' = 'earliest-offset',
  'properties.bootstrap.servers' = '${servers}', 'format' = 'json'
);
"""
_TABLE = """
CREATE TABLE {name} (ts TIMESTAMP(3), v INT, x INT, other TIMESTAMP(3)) WITH (
  'connector' = 'kafka', 'topic' = '${{source}}-{name}', 'scan.startup.mode' = 'earliest-offset',
  'properties.bootstrap.servers' = '${{servers}}', 'format' = 'json'
);
INSERT INTO {name} {query};
"""
TEMPORAL = {
    "temporal": """
SELECT e.ts, e.v, r.rate, r.at FROM events AS e
LEFT JOIN rates FOR SYSTEM_TIME AS OF e.ts AS r ON e.k = r.k AND r.rate <> 3
""",
    "inner_temporal": """
SELECT e.ts, e.v, r.rate, r.at FROM events AS e
JOIN rates FOR SYSTEM_TIME AS OF e.ts AS r ON r.k = e.k
""",
    "temporal_twice": """
SELECT e.ts, e.v, a.rate, b.at FROM events AS e
LEFT JOIN rates FOR SYSTEM_TIME AS OF e.ts AS a ON a.k = e.k
JOIN rates FOR SYSTEM_TIME AS OF e.ts AS b ON MOD(e.k + 1, 3) = b.k
""",
    "temporal_windows": """
SELECT w.wt, w.n, r.rate, r.at FROM (
  SELECT window_time AS wt, k, CAST(COUNT(*) AS INT) AS n
  FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '4' SECOND))
  GROUP BY window_start, window_end, window_time, k
) AS w LEFT JOIN rates FOR SYSTEM_TIME AS OF w.wt AS r ON r.k = w.k
""",
}
_NEAR = "e.k = s.k AND s.sent BETWEEN e.ts - INTERVAL '3' SECOND AND e.ts + INTERVAL '5' SECOND"
INTERVALS = {
    "near": f"SELECT e.ts, e.v, s.w, s.sent FROM events AS e, shipments AS s WHERE {_NEAR}",
    "padded": (
        "SELECT e.ts, e.v, s.w, s.sent FROM events AS e FULL JOIN shipments AS s"
        f" ON {_NEAR} AND s.w <> 4"
    ),
}
Rows = list[tuple[Any, ...]]


def _written(broker: Broker, topic_name: str) -> Rows:
    import json

    rows = []
    for record in records(broker.bootstrap_servers, topic_name):
        found = json.loads(record.value())
        times = [None if found[n] is None else millis(found[n]) for n in ("ts", "other")]
        rows.append((times[0], found["v"], found["x"], times[1]))
    return sorted(rows, key=repr)


def _job(
    tables: dict[str, str], spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> tuple[BoundedRun, dict[str, str]]:
    names = {
        "source": topic("events", partitions=2),
        "rates": topic("rates", partitions=1),
        "shipments": topic("shipments", partitions=1),
        "servers": broker.bootstrap_servers,
    }
    script = SOURCE + _OTHERS
    script += "".join(_TABLE.format(name=n, query=q) for n, q in tables.items())
    return BoundedRun(spark, script, tmp_path / "job", names), names


@pytest.mark.parametrize(
    "seed", [91, *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(92, 97))]
)
def test_temporal_joins_find_the_version_of_the_row_time(
    seed: int, spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    job, names = _job(TEMPORAL, spark, broker, topic, tmp_path)
    dice = random.Random(seed)
    events = punctual(seed, 30, {0: 0, 1: 5_000})
    now, rates = 0, []
    for _ in range(60):
        now += dice.choice([100, 500, 4_000])
        rates.append((now, dice.randrange(3), dice.randrange(5)))
    cuts = random_cuts(seed, len(rates), 2)
    for some, more in zip(
        pieces(events, random_cuts(seed, len(events), 2)), pieces(rates, cuts), strict=True
    ):
        send(broker.bootstrap_servers, names["source"], some)
        changes = [Change(k, {"rate": rate, "at": moment(at)}) for at, k, rate in more]
        produce_changes(broker.bootstrap_servers, names["rates"], "k", changes)
        job()
    for passed in (min(watermark(events, range(2)), now), END):
        if passed == END:
            job(drain=True)
        expected: dict[str, Rows] = {name: [] for name in TEMPORAL}
        for event in events:
            if event.ms is None or event.ms > passed:
                continue
            at, rate = _version(rates, event.k, event.ms)
            next_at, _ = _version(rates, (event.k + 1) % 3, event.ms)
            shown = (rate, at) if rate is not None and rate != 3 else (None, None)
            expected["temporal"].append((event.ms, event.v, *shown))
            if at is not None:
                expected["inner_temporal"].append((event.ms, event.v, rate, at))
            if next_at is not None:
                expected["temporal_twice"].append((event.ms, event.v, rate, next_at))
        windows = Counter((_ms(event) // 4_000 * 4_000 + 3_999, event.k) for event in events)
        for (time, key), count in windows.items():
            if time <= passed:
                at, rate = _version(rates, key, time)
                expected["temporal_windows"].append((time, count, rate, at))
        for name, rows in expected.items():
            assert len(rows) > (10 if name == "temporal_windows" else 20)
            found = _written(broker, f"{names['source']}-{name}")
            assert found == sorted(rows, key=repr), f"{name}, seed {seed}"


def _version(
    rates: list[tuple[int, int, int]], key: int, until: int
) -> tuple[int | None, int | None]:
    """Return the time and the rate of a key's newest version at a time."""
    of_key = [(at, rate) for at, k, rate in rates if k == key and at <= until]
    return max(of_key, default=(None, None), key=lambda version: version[0])


_ORDERS = """
CREATE TABLE orders (
  k INT, g INT, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '2' SECOND,
  PRIMARY KEY (k) NOT ENFORCED
) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${source}',
  'properties.bootstrap.servers' = '${servers}', 'key.format' = 'json', 'value.format' = 'json'
);
CREATE TABLE o (k INT, v INT, rate INT, PRIMARY KEY (k) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${source}-o',
  'properties.bootstrap.servers' = '${servers}', 'key.format' = 'json', 'value.format' = 'json'
);
INSERT INTO o SELECT o.k, o.v, r.rate FROM orders AS o
JOIN rates FOR SYSTEM_TIME AS OF o.ts AS r ON r.k = o.g;
"""


def test_temporal_joins_of_updated_and_deleted_rows(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    """An update of an emitted row finds the version of its time, which has been replaced since.

    Every run is a restart.
    """
    servers = broker.bootstrap_servers
    names = {name: topic(name, partitions=1) for name in ("source", "rates", "shipments")}
    job = BoundedRun(spark, _OTHERS + _ORDERS, tmp_path / "job", {**names, "servers": servers})

    def run(orders: dict[int, tuple[int, int, int] | None], *, drain: bool = False) -> Any:
        """Upsert or delete rows: k -> g, v and the seconds of the event time. Return the sink."""
        changes = [
            Change(k, row and {"g": row[0], "v": row[1], "ts": moment(row[2] * 1_000)})
            for k, row in orders.items()
        ]
        produce_changes(servers, names["source"], "k", changes)
        job(drain=drain)
        return {k: (row["v"], row["rate"]) for (k,), row in job.rows("o").items()}

    rates = [(0, 10, 0), (1, 20, 0), (0, 11, 10), (9, 99, 60)]
    versions = [Change(k, {"rate": r, "at": moment(s * 1_000)}) for k, r, s in rates]
    produce_changes(servers, names["rates"], "k", versions)
    first = {1: (0, 1, 1), 2: (0, 2, 2), 3: (1, 3, 3), 4: (0, 4, 50), 9: (9, 9, 60)}
    assert run(first) == {1: (1, 10), 2: (2, 10), 3: (3, 20), 4: (4, 11)}
    # An update at the same time, a delete, a row that moves to a later time, a row that waits.
    assert run({1: (0, 5, 1), 2: None, 3: (1, 3, 70), 5: (0, 6, 61)}) == {
        1: (5, 10),
        4: (4, 11),
        9: (9, 99),
    }
    ends = {1: (5, 10), 3: (3, 20), 4: (4, 11), 5: (7, 11), 9: (9, 99)}
    assert run({5: (0, 7, 61)}, drain=True) == ends


@pytest.mark.parametrize(
    "seed", [101, *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(102, 107))]
)
def test_interval_joins_find_rows_with_near_times(
    seed: int, spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    job, names = _job(INTERVALS, spark, broker, topic, tmp_path)
    events = punctual(seed, 25, {0: 0, 1: 0})
    others = punctual(seed + 1, 30, {0: 0})
    for some, more in zip(
        pieces(events, random_cuts(seed, len(events), 2)),
        pieces(others, random_cuts(seed, len(others), 2)),
        strict=True,
    ):
        send(broker.bootstrap_servers, names["source"], some)
        rows = [{"k": e.k, "w": e.v, "sent": moment(e.ms or 0)} for e in more]
        produce_json(broker.bootstrap_servers, names["shipments"], rows)
        job()
    for passed in (min(watermark(events, range(2)), watermark(others, [0])), END):
        if passed == END:
            job(drain=True)
        near = [(e, s) for e in events for s in others if _near(e, s)]
        expected: dict[str, Rows] = {"near": [(e.ms, e.v, s.v, s.ms) for e, s in near]}
        met = [(e, s) for e, s in near if s.v != 4]
        full: Rows = [(e.ms, e.v, s.v, s.ms) for e, s in met]
        # A row without a match is emitted when the watermark excludes further matches.
        left, right = {id(e) for e, _ in met}, {id(s) for _, s in met}
        full += [
            (e.ms, e.v, None, None)
            for e in events
            if id(e) not in left and _ms(e) + 5_000 <= passed
        ]
        full += [
            (None, None, s.v, s.ms)
            for s in others
            if id(s) not in right and _ms(s) + 3_000 <= passed
        ]
        expected["padded"] = full
        assert len(near) > 10
        assert any(row[2] is None for row in full)
        assert any(row[0] is None for row in full)
        for name, rows in expected.items():
            found = _written(broker, f"{names['source']}-{name}")
            assert found == sorted(rows, key=repr), f"{name}, seed {seed}"


def _ms(event: Event) -> int:
    assert event.ms is not None
    return event.ms


def _near(event: Event, other: Event) -> bool:
    return event.k == other.k and -3_000 <= _ms(other) - _ms(event) <= 5_000
