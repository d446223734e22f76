"""Windows over rows in any order equal windows over all rows at once."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
from tests.integration.event_time.support import (
    END,
    ONE_TASK,
    SOURCE,
    Event,
    Span,
    cumulate,
    grouped,
    hop,
    millis,
    punctual,
    send,
    sessions,
    tumble,
    watermark,
)

from streamtable.core.errors import StreamtableError
from streamtable.testing.answers import set_for_a_while
from streamtable.testing.histories import pieces, random_cuts
from streamtable.testing.jobs import BoundedRun

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

HOUR = 3_600_000

_TABLE = """
CREATE TABLE {name} (
  s TIMESTAMP(3), e TIMESTAMP(3), k INT, n BIGINT, total BIGINT, kinds BIGINT, most INT,
  PRIMARY KEY (s, e, k) NOT ENFORCED
) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${{source}}-{name}',
  'properties.bootstrap.servers' = '${{servers}}', 'key.format' = 'json', 'value.format' = 'json'
);
"""
_SINK = f"""{_TABLE}
INSERT INTO {{name}}
SELECT window_start, window_end, k, COUNT(*), SUM(v), COUNT(DISTINCT v), MAX(v)
FROM TABLE({{function}}) GROUP BY window_start, window_end, k;
"""
#: Without distinct values, buckets, slices and sessions keep only aggregates.
_MERGED_SINK = _SINK.replace("COUNT(DISTINCT v)", "COUNT(v)")
#: Joins each row of a window with each row of the same key in the window.
_PAIRED = f"""{_TABLE}
INSERT INTO {{name}}
SELECT l.window_start, l.window_end, l.k, COUNT(*), SUM(l.v * r.v), COUNT(DISTINCT r.v), MAX(r.v)
FROM (SELECT * FROM TABLE({{function}})) AS l JOIN (SELECT * FROM TABLE({{function}})) AS r
ON l.window_start = r.window_start AND l.window_end = r.window_end AND l.k = r.k
GROUP BY l.window_start, l.window_end, l.k;
"""

_OF = "TABLE events, DESCRIPTOR(ts)"
FUNCTIONS = {
    "tumbled": f"TUMBLE({_OF}, INTERVAL '10' SECOND, INTERVAL '3' SECOND)",
    "hopped": "HOP(DATA => TABLE events, TIMECOL => DESCRIPTOR(ts), SLIDE => INTERVAL '5' SECOND,"
    " SIZE => INTERVAL '15' SECOND)",
    "cumulated": f"CUMULATE({_OF}, INTERVAL '10' SECOND, INTERVAL '1' MINUTE)",
    "joined": "SESSION(TABLE events PARTITION BY k, DESCRIPTOR(ts), INTERVAL '4' SECOND)",
}
SPANS: Mapping[str, Callable[[int], list[Span]]] = {
    "tumbled": lambda ms: tumble(ms, 10_000, 3_000),
    "hopped": lambda ms: hop(ms, 5_000, 15_000),
    "cumulated": lambda ms: cumulate(ms, 10_000, 60_000),
}

#: Sink with merged aggregates -> windowing function.
MERGED = {f"merged_{name}": name for name in FUNCTIONS}

Results = dict[tuple[int, int, int], tuple[int, int, int, int]]


def _expected(name: str, events: Sequence[Event], passed: int) -> Results:
    """Return the results of the windows whose last millisecond the watermark has passed."""
    merged = name in MERGED
    name = MERGED.get(name, name)
    if name == "joined":
        spans = {
            k: sessions([e.ms for e in events if e.k == k and e.ms is not None], 4_000)
            for k in range(3)
        }
        found = {}
        for event in events:
            for start, end in spans[event.k]:
                if event.ms is not None and start <= event.ms < end:
                    found.setdefault((start, end, event.k), []).append(event)
    else:
        found = grouped(events, SPANS[name])
    return {
        key: (
            len(rows),
            sum(e.v for e in rows),
            len(rows) if merged else len({e.v for e in rows}),
            max(e.v for e in rows),
        )
        for key, rows in found.items()
        if key[1] - 1 <= passed
    }


def _written(job: BoundedRun, name: str) -> Results:
    return {
        (millis(r["s"]), millis(r["e"]), r["k"]): (r["n"], r["total"], r["kinds"], r["most"])
        for r in job.rows(name).values()
    }


@pytest.mark.parametrize(
    ("seed", "cuts"),
    [(71, 1), *(pytest.param(seed, 2, marks=pytest.mark.soak) for seed in range(71, 78))],
)
def test_every_window_holds_all_its_rows(
    seed: int, cuts: int, spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    """No row is lost in any cut, over restarts, although one partition is an hour behind."""
    source = topic("events", partitions=3)
    names = {"source": source, "servers": broker.bootstrap_servers}
    sinks = "".join(_SINK.format(name=n, function=f) for n, f in FUNCTIONS.items())
    sinks += "".join(_MERGED_SINK.format(name=n, function=FUNCTIONS[f]) for n, f in MERGED.items())
    job = BoundedRun(spark, SOURCE + sinks, tmp_path / "job", names)
    events = punctual(seed, 40, {0: HOUR, 1: 0, 2: HOUR + 60_000})
    sent: list[Event] = []
    for piece in pieces(events, random_cuts(seed, len(events), cuts)):
        send(broker.bootstrap_servers, source, piece)
        sent += piece
        job({"execution.micro-batch.max-records": str(random.Random(seed).choice([1_000, 25]))})
    passed = watermark(sent, range(3))
    for name in (*FUNCTIONS, *MERGED):
        expected = _expected(name, sent, passed)
        assert len(expected) > 5
        assert _written(job, name) == expected, f"{name}, seed {seed}"
    job(drain=True)
    for name in (*FUNCTIONS, *MERGED):
        assert _written(job, name) == _expected(name, sent, END), f"the end of {name}, seed {seed}"
    assert not any("watermark had passed" in n for n in job.notices), job.notices


def test_late_rows_are_counted_unless_their_window_is_open(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    source = topic("events", partitions=2)
    servers = broker.bootstrap_servers
    script = SOURCE + _SINK.format(name="tumbled", function=FUNCTIONS["tumbled"])
    script += _SINK.format(name="joined", function=FUNCTIONS["joined"])
    script += _PAIRED.format(name="paired", function=FUNCTIONS["tumbled"])
    for name in ("merged_tumbled", "merged_joined", "merged_hopped"):
        script += _MERGED_SINK.format(name=name, function=FUNCTIONS[MERGED[name]])
    job = BoundedRun(spark, script, tmp_path / "job", {"source": source, "servers": servers})
    # Windows are [3 s, 13 s), [13 s, 23 s), ...; the second partition has no rows yet.
    send(servers, source, [Event(4_000, 1, 1, 0), Event(40_000, 1, 1, 0)])
    job()
    assert _written(job, "tumbled") == {}
    send(servers, source, [Event(5_000, 1, 2, 1), Event(14_999, 1, 3, 1)])
    job()
    # 14.999 s - 2 s is the last millisecond of the first window, which fires.
    assert _written(job, "tumbled") == {(3_000, 13_000, 1): (2, 3, 2, 2)}
    assert _written(job, "merged_tumbled") == _written(job, "tumbled")
    assert _written(job, "joined") == {(4_000, 9_000, 1): (2, 3, 2, 2)}
    assert _written(job, "merged_joined") == {(4_000, 9_000, 1): (2, 3, 2, 2)}
    assert _written(job, "paired") == {(3_000, 13_000, 1): (4, 9, 2, 2)}
    hopped = {(-10_000, 5_000, 1): (1, 1, 1, 1), (-5_000, 10_000, 1): (2, 3, 2, 2)}
    assert _written(job, "merged_hopped") == hopped
    # Late rows, and a row that is not late: the second window is open, although the watermark has
    # passed the row. A session that has ended takes no row; an open session is extended by a row
    # before it.
    send(servers, source, [Event(12_999, 1, 9, 1), Event(13_000, 1, 4, 1), Event(8_500, 1, 9, 0)])
    send(servers, source, [Event(60_000, 1, 1, 0), Event(60_000, 1, 1, 1)])
    job()
    assert _written(job, "tumbled") == {
        (3_000, 13_000, 1): (2, 3, 2, 2),
        (13_000, 23_000, 1): (2, 7, 2, 4),
        (33_000, 43_000, 1): (1, 1, 1, 1),
    }
    assert _written(job, "merged_tumbled") == _written(job, "tumbled")
    assert _written(job, "joined") == {
        (4_000, 9_000, 1): (2, 3, 2, 2),
        (12_999, 18_999, 1): (3, 16, 3, 9),
        (40_000, 44_000, 1): (1, 1, 1, 1),
    }
    assert _written(job, "paired") == {
        (3_000, 13_000, 1): (4, 9, 2, 2),
        (13_000, 23_000, 1): (4, 49, 2, 4),
        (33_000, 43_000, 1): (1, 1, 1, 1),
    }
    assert _written(job, "merged_joined") == {
        (4_000, 9_000, 1): (2, 3, 2, 2),
        (12_999, 18_999, 1): (3, 16, 3, 9),
        (40_000, 44_000, 1): (1, 1, 1, 1),
    }
    # The row of 8.5 s is late for [-5 s, 10 s), and not for the next two windows.
    assert _written(job, "merged_hopped") == hopped | {
        (0, 15_000, 1): (6, 28, 6, 9),
        (5_000, 20_000, 1): (5, 27, 5, 9),
        (10_000, 25_000, 1): (3, 16, 3, 9),
        (30_000, 45_000, 1): (1, 1, 1, 1),
        (35_000, 50_000, 1): (1, 1, 1, 1),
        (40_000, 55_000, 1): (1, 1, 1, 1),
    }
    # Late rows: two for each table of windows, one for each table of sessions, two on each side of
    # the join, one for HOP.
    assert any(
        "11 records dropped as late, because the watermark had passed" in n for n in job.notices
    )
    send(servers, source, [Event(None, 1, 1, 1)])
    with pytest.raises(StreamtableError, match="an event time is NULL: `ts` of events"):
        job()


@pytest.mark.soak
@pytest.mark.parametrize("mode", ["real-time", "auto"])
@pytest.mark.parametrize("name", list(MERGED))
def test_merged_windows_in_real_time_mode(
    name: str, mode: str, spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    """A run in `mode` follows a micro-batch on its checkpoint; a micro-batch ends the input."""
    source = topic("events", partitions=1)
    names = {"source": source, "servers": broker.bootstrap_servers}
    script = SOURCE + _MERGED_SINK.format(name=name, function=FUNCTIONS[MERGED[name]])
    job = BoundedRun(spark, script, tmp_path / "job", names)
    events = punctual(98, 40, {0: 1_000})
    send(broker.bootstrap_servers, source, events[:20])
    settings = {"execution.mode": mode, "execution.checkpointing.interval": "5 s"}
    expected = _expected(name, events, watermark(events, [0]))
    with set_for_a_while(spark, ONE_TASK):
        job()
        send(broker.bootstrap_servers, source, events[20:])
        job.until(lambda: _written(job, name) == expected, settings)
        job(drain=True)
    assert _written(job, name) == _expected(name, events, END)
    assert not any("watermark had passed" in n for n in job.notices), job.notices
