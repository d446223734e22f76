"""OVER aggregates by event time: Flink's recorded answers, random rows in any cut, late rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka import Producer
from tests.compat.over.over_queries import ARRAYS, CALLS, FRAMES, TIMED, moment
from tests.integration.event_time.support import (
    ONE_TASK,
    SOURCE,
    Event,
    millis,
    punctual,
    send,
    watermark,
)

from streamtable.testing.answers import set_for_a_while
from streamtable.testing.histories import pieces, random_cuts
from streamtable.testing.jobs import BoundedRun
from streamtable.testing.state import state_rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

_ANSWERS = Path(__file__).parents[2] / "compat" / "over" / "over.json"

_TIMED = """
CREATE TABLE timed (
  id INT, k STRING, v INT, s STRING, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '2' SECOND
) WITH (
  'connector' = 'kafka', 'topic' = '${source}', 'scan.startup.mode' = 'earliest-offset',
  'properties.bootstrap.servers' = '${servers}', 'format' = 'json'
);
"""
_UPSERTS = """
CREATE TABLE {name} ({columns}, PRIMARY KEY (id) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${{source}}-{name}',
  'properties.bootstrap.servers' = '${{servers}}', 'key.format' = 'json', 'value.format' = 'json'
);
INSERT INTO {name} {query};
"""
#: Types of the columns after `id` of each query in `CALLS`.
_TYPES = (
    "n{i} INT, c{i} BIGINT, d{i} BIGINT, a{i} INT, m{i} INT, x{i} STRING",
    "n{i} INT, x{i} STRING, y{i} STRING, z{i} STRING",
    "n{i} INT, c{i} BIGINT, a{i} INT, m{i} INT",
    "x{i} STRING",
)
#: A multiset has no text here, so only the array is compared.
_WRITTEN = {ARRAYS: ARRAYS.split(", ")[0]}
_BY_RANGE = "PARTITION BY k ORDER BY ts"
#: Queries with one window each: the window, and the calls and types of each recorded query.
QUERIES: Mapping[str, tuple[str, Sequence[tuple[str, str, str]]]] = {
    **{
        name: (
            frame,
            [
                (
                    f"SELECT id, {call} FROM timed WINDOW w AS ({frame})",
                    _WRITTEN.get(call, call),
                    types.format(i=i),
                )
                for i, (call, types) in enumerate(zip(CALLS, _TYPES, strict=False))
            ],
        )
        for name, frame in FRAMES.items()
    },
    "lagged": (
        _BY_RANGE,
        [
            (
                f"SELECT id, {call} FROM timed WINDOW w AS ({_BY_RANGE})",
                call,
                types,
            )
            for call, types in (
                (
                    "LAG(v) OVER w, LAG(v, 2) OVER w, LAG(v, 1, -1) OVER w",
                    "l0 INT, l1 INT, l2 INT",
                ),
                ("LAG(s, 0) OVER w, LAG(v) OVER w, SUM(v) OVER w", "l3 STRING, l4 INT, l5 INT"),
            )
        ],
    ),
    "numbered": (
        _BY_RANGE,
        [
            (
                "SELECT id, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts) FROM timed",
                "ROW_NUMBER() OVER w",
                "n BIGINT",
            )
        ],
    ),
}


def test_answers_equal_flinks(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    source = topic("timed", partitions=1)
    script = _TIMED
    for name, (frame, parts) in QUERIES.items():
        calls = ", ".join(call for _, call, _ in parts)
        columns = ", ".join(["id INT", *(types for *_, types in parts)])
        query = f"SELECT id, {calls} FROM timed WINDOW w AS ({frame})"
        script += _UPSERTS.format(name=name, columns=columns, query=query)
    names = {"source": source, "servers": broker.bootstrap_servers}
    job = BoundedRun(spark, script, tmp_path / "job", names)
    for rows in (TIMED[:7], TIMED[7:]):
        _produce(broker.bootstrap_servers, source, rows)
        job()
    answers = json.loads(_ANSWERS.read_text(encoding="utf-8"))["answers"]
    wrong = []
    for name, (_, parts) in QUERIES.items():
        ours = {row["id"]: list(row.values())[1:] for row in job.rows(name).values()}
        flinks: dict[int, list[Any]] = {}
        for query, _, types in parts:
            for kind, (key, *values) in answers[query]:
                assert kind == "+I"
                flinks.setdefault(key, []).extend(values[: types.count(",") + 1])
        del flinks[TIMED[-1][0]]
        if ours != flinks:
            wrong.append(f"{name}\n  ours    {ours}\n  Flink's {flinks}")
    assert not wrong, "\n".join(wrong)
    assert not any("watermark had passed" in n for n in job.notices), job.notices


def _produce(servers: str, topic: str, rows: Sequence[tuple[Any, ...]]) -> None:
    producer = Producer({"bootstrap.servers": servers})
    for *values, seconds in rows:
        row = dict(zip(("id", "k", "v", "s"), values, strict=True))
        ts = moment(seconds).isoformat(sep=" ", timespec="milliseconds")
        producer.produce(topic, json.dumps({**row, "ts": ts}).encode(), partition=0)
    assert producer.flush(60) == 0


_SINKS = """
CREATE TABLE {name} (
  ts TIMESTAMP(3), k INT, v INT, n BIGINT, total INT, most INT, kinds BIGINT, id BIGINT,
  PRIMARY KEY ({key}) NOT ENFORCED
) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${{source}}-{name}',
  'properties.bootstrap.servers' = '${{servers}}', 'key.format' = 'json', 'value.format' = 'json'
);
INSERT INTO {name} {query};
"""
_OVER = """
SELECT ts, k, v, COUNT(*) OVER w, SUM(v) OVER w, MAX(v) OVER w, COUNT(DISTINCT v) OVER w, id
FROM events WINDOW w AS (PARTITION BY k ORDER BY ts {frame})
"""
_ONE = """
SELECT ts, k, v, rn, v, v, rn, id FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts {direction}) AS rn FROM events
) WHERE rn = 1
"""
_JOB = {
    "three": ("id", _OVER.format(frame="ROWS BETWEEN 2 PRECEDING AND CURRENT ROW")),
    "five_seconds": ("id", _OVER.format(frame="RANGE INTERVAL '5' SECOND PRECEDING")),
    # A first row that is emitted twice would have two keys.
    "first_row": ("k, id", _ONE.format(direction="")),
    "last_row": ("k", _ONE.format(direction="DESC")),
}
_SOURCE = SOURCE.replace("v INT,", "v INT, id BIGINT METADATA FROM 'offset' VIRTUAL,")
_COLUMNS = ("k", "v", "n", "total", "most", "kinds", "id")


def _expected(events: Sequence[Event], passed: int) -> dict[str, list[tuple[int, ...]]]:
    """Return each row with the aggregates over its frame; the id of an event is its offset."""
    found: dict[str, list[tuple[int, ...]]] = {name: [] for name in _JOB}
    for key in range(3):
        rows = sorted((e.ms, at, e.v) for at, e in enumerate(events) if e.k == key and e.ms)
        for place, (ms, at, v) in enumerate(rows):
            frames = {
                "three": rows[max(0, place - 2) : place + 1],
                "five_seconds": [r for r in rows if ms - 5_000 <= r[0] <= ms],
                "first_row": rows[:1] if place == 0 else [],
            }
            if ms <= passed:
                for name, inside in frames.items():
                    found[name] += [(ms, key, v, *_told(inside), at)] if inside else []
        ms, at, v = rows[-1]
        found["last_row"].append((ms, key, v, *_told(rows[-1:]), at))
    return found


def _told(inside: Sequence[tuple[int, int, int]]) -> tuple[int, ...]:
    values = [v for *_, v in inside]
    return len(values), sum(values), max(values), len(set(values))


def _written(job: BoundedRun, name: str) -> list[tuple[int, ...]]:
    rows = job.rows(name).values()
    return sorted((millis(row["ts"]), *(row[name] for name in _COLUMNS)) for row in rows)


@pytest.mark.parametrize(
    "seed", [91, *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(92, 96))]
)
def test_every_row_has_its_frame(
    seed: int, spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    """Every row has its frame in any cut, over restarts.

    A late row is counted, and rows that no frame needs are removed from the state.
    """
    source = topic("events", partitions=1)
    names = {"source": source, "servers": broker.bootstrap_servers}
    sinks = "".join(_SINKS.format(name=n, key=k, query=q) for n, (k, q) in _JOB.items())
    job = BoundedRun(spark, _SOURCE + sinks, tmp_path / "job", names)
    events = punctual(seed, 60, {0: 1_000})
    sent: list[Event] = []
    for piece in pieces(events, random_cuts(seed, len(events), 1)):
        send(broker.bootstrap_servers, source, piece)
        sent += piece
        job()
    expected = _expected(sent, watermark(sent, [0]))
    for name in _JOB:
        assert len(expected[name]) >= 3
        assert _written(job, name) == sorted(expected[name]), f"{name}, seed {seed}"
    assert not any("watermark had passed" in n for n in job.notices), job.notices
    end = max(e.ms or 0 for e in sent) + 60_000
    send(broker.bootstrap_servers, source, [Event(500, 1, 9), Event(end, 5, 1)])
    job()
    assert any("record" in n and "watermark had passed" in n for n in job.notices), job.notices
    kept = {name: state_rows(spark, str(tmp_path / "job" / name)) for name in _JOB}
    assert kept["five_seconds"] == {"0/rows": 1, "0/times": 1, "0/timers": 1}, (
        "the row that waits, and no other"
    )
    assert kept["three"]["0/rows"] <= 3 * 2 + 1, (
        "two rows of each partition, and the one that waits"
    )
    assert kept["first_row"] == {"0/first": 4, "0/timers": 1}
    assert kept["last_row"] == {"0/top": 4}


@pytest.mark.soak
def test_frames_are_emitted_at_checkpoints_in_real_time_mode(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    """Real-time mode continues the checkpoint of a micro-batch over the first rows."""
    source = topic("events", partitions=1)
    names = {"source": source, "servers": broker.bootstrap_servers}
    key, query = _JOB["three"]
    script = _SOURCE + _SINKS.format(name="three", key=key, query=query)
    job = BoundedRun(spark, script, tmp_path / "job", names)
    events = punctual(97, 40, {0: 1_000})
    send(broker.bootstrap_servers, source, events[:20])
    settings = {"execution.mode": "real-time", "execution.checkpointing.interval": "5 s"}
    expected = sorted(_expected(events, watermark(events, [0]))["three"])
    with set_for_a_while(spark, ONE_TASK):
        job()
        send(broker.bootstrap_servers, source, events[20:])
        job.until(lambda: _written(job, "three") == expected, settings)
    assert not any("watermark had passed" in n for n in job.notices), job.notices
