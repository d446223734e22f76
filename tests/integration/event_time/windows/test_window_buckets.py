"""Windows of many groups, which share buckets: restarts, rescales, modes, older checkpoints."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import pytest
from tests.integration.event_time.support import (
    END,
    ONE_TASK,
    SOURCE,
    Event,
    grouped,
    millis,
    punctual,
    send,
    tumble,
    watermark,
)

from streamtable.jvm.bridge import Bridge
from streamtable.jvm.streaming.state_partitions import repartition
from streamtable.plan.window.window_aggregate import WindowAggregate
from streamtable.runtime.checkpoint.rescale import open_rescale
from streamtable.testing.answers import set_for_a_while
from streamtable.testing.histories import pieces, random_cuts
from streamtable.testing.jobs import BoundedRun

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

#: More groups than a window has buckets; multiples of 50 become NULL.
_GROUPS = 400
_SCRIPT = f"""{SOURCE}
CREATE TABLE counted (
  id STRING, s TIMESTAMP(3), k INT, n BIGINT, total BIGINT, least INT, mean INT,
  PRIMARY KEY (id) NOT ENFORCED
) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${{source}}-counted',
  'properties.bootstrap.servers' = '${{servers}}', 'key.format' = 'json', 'value.format' = 'json'
);
CREATE TEMPORARY VIEW spread AS SELECT ts, v, NULLIF(k, k / 50 * 50) AS k FROM events;
INSERT INTO counted
SELECT CONCAT_WS(' ', CAST(window_start AS STRING), COALESCE(CAST(k AS STRING), 'none')),
  window_start, k, COUNT(*), SUM(v), MIN(v), AVG(v)
FROM TABLE(TUMBLE(TABLE spread, DESCRIPTOR(ts), INTERVAL '20' SECOND))
GROUP BY window_start, window_end, k;
"""
#: Real-time mode needs a sink whose key distinguishes the windows of a group.
_KEYED_BY_WINDOW = _SCRIPT.replace("PRIMARY KEY (id)", "PRIMARY KEY (s, k)").replace(
    "NULLIF(k, k / 50 * 50) AS k", "k"
)

_Row = tuple[int, int, int, int]


def _events(seed: int, count: int, partitions: int = 2) -> list[Event]:
    """Return punctual events of many groups; `count` per partition."""
    dice = random.Random(seed)
    found = punctual(seed, count, {p: p * 5_000 for p in range(partitions)})
    return [Event(e.ms, dice.randrange(_GROUPS), e.v, e.partition) for e in found]


def _expected(events: Sequence[Event], passed: int) -> dict[tuple[int, int | None], _Row]:
    named = [Event(e.ms, e.k if e.k % 50 else -1, e.v, e.partition) for e in events]
    return {
        (start, None if k < 0 else k): (
            len(rows),
            sum(e.v for e in rows),
            min(e.v for e in rows),
            sum(e.v for e in rows) // len(rows),
        )
        for (start, end, k), rows in grouped(named, lambda ms: tumble(ms, 20_000)).items()
        if end - 1 <= passed
    }


def _written(job: BoundedRun) -> dict[tuple[int, int | None], _Row]:
    return {
        (millis(row["s"]), row["k"]): (row["n"], row["total"], row["least"], row["mean"])
        for row in job.rows("counted").values()
    }


def _buckets(checkpoint: Path) -> bool:
    """Whether the query has buckets, by the manifest; the layout of the manifest must agree."""
    manifest = json.loads((checkpoint / "streamtable.json").read_text())
    (query,) = manifest["queries"].values()
    found: bool = query["state"] == [["WindowBuckets", 1]]
    assert found == (manifest["layout"] == 8)
    assert found or query["state"] == [["WindowAggregate", 1]]
    return found


@pytest.mark.parametrize(
    "seed", [11, *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(12, 18))]
)
def test_every_group_of_a_window_is_emitted_once(
    seed: int, spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    """Groups are emitted once over restarts, random batch sizes, both phases and a rescale."""
    dice = random.Random(seed)
    source = topic("events", partitions=2)
    names = {"source": source, "servers": broker.bootstrap_servers}
    job = BoundedRun(spark, _SCRIPT, tmp_path / "job", names)
    events = _events(seed, 900)
    cut = pieces(events, random_cuts(seed, len(events), 2))
    for number, piece in enumerate(cut):
        send(broker.bootstrap_servers, source, piece)
        job(
            {
                "execution.micro-batch.max-records": str(dice.choice([200, 1_000])),
                "table.optimizer.agg-phase-strategy": dice.choice(["ONE_PHASE", "TWO_PHASE"]),
            }
        )
        if not number:
            with open_rescale(str(tmp_path / "job"), 3, job.notices.append) as rescale:
                rescale.run(partial(repartition, Bridge(spark)), job.notices.append)
    assert _buckets(tmp_path / "job")
    expected = _expected(events, watermark(events, range(2)))
    assert len(expected) > 1_000
    assert _written(job) == expected, f"seed {seed}"
    job(drain=True)
    assert _written(job) == _expected(events, END), f"the end, seed {seed}"
    assert not any("watermark had passed" in n for n in job.notices), job.notices


def test_an_older_checkpoint_continues_without_buckets(
    spark: SparkSession,
    broker: Broker,
    topic: Topics,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The open windows of an earlier version keep their state and their layout."""
    source = topic("events", partitions=2)
    names = {"source": source, "servers": broker.bootstrap_servers}
    job = BoundedRun(spark, _SCRIPT, tmp_path / "job", names)
    events = _events(21, 300)
    send(broker.bootstrap_servers, source, events[:300])
    with monkeypatch.context() as earlier:
        earlier.setattr(WindowAggregate, "in_buckets", False)
        job()
    assert not _buckets(tmp_path / "job")
    send(broker.bootstrap_servers, source, events[300:])
    job()
    assert not _buckets(tmp_path / "job")
    assert _written(job) == _expected(events, watermark(events, range(2)))
    job(drain=True)
    assert _written(job) == _expected(events, END)


@pytest.mark.parametrize("mode", ["real-time", pytest.param("auto", marks=pytest.mark.soak)])
def test_buckets_in_real_time_mode(
    mode: str, spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    """A run in `mode` follows a micro-batch on its checkpoint; a micro-batch ends the input."""
    source = topic("events", partitions=1)
    names = {"source": source, "servers": broker.bootstrap_servers}
    job = BoundedRun(spark, _KEYED_BY_WINDOW, tmp_path / "job", names)
    events = [
        replace(event, k=event.k + 1 - event.k % 2) for event in _events(31, 200, partitions=1)
    ]
    send(broker.bootstrap_servers, source, events[:150])
    settings = {"execution.mode": mode, "execution.checkpointing.interval": "5 s"}
    expected = _expected(events, watermark(events, [0]))
    with set_for_a_while(spark, ONE_TASK):
        job()
        send(broker.bootstrap_servers, source, events[150:])
        job.until(lambda: _written(job) == expected, settings)
        job(drain=True)
    assert _written(job) == _expected(events, END)
    assert not any("watermark had passed" in n for n in job.notices), job.notices


@pytest.mark.soak
def test_more_groups_than_a_bucket_has_in_memory(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    """A bucket holds more groups than the 10,000 that are in memory when the bucket fires.

    There are 64 buckets of about 11,000 groups. Half of the groups get rows in the batch that ends
    the window.
    """
    source = topic("events", partitions=1)
    names = {"source": source, "servers": broker.bootstrap_servers}
    job = BoundedRun(spark, _KEYED_BY_WINDOW, tmp_path / "job", names)

    def sent(moment: int, groups: range) -> None:
        for begin in range(groups.start, groups.stop, 50_000):
            part = range(begin, begin + 50_000)
            send(broker.bootstrap_servers, source, (Event(moment, k, 1) for k in part))

    sent(1_000, range(700_000))
    job()
    sent(2_000, range(350_000, 750_000))
    sent(30_000, range(700_000))
    job()
    first = {
        (0, k): (n, n, 1, 1) for k in range(750_000) for n in [2 if 350_000 <= k < 700_000 else 1]
    }
    assert _written(job) == first
    job(drain=True)
    assert _written(job) == first | {(20_000, k): (1, 1, 1, 1) for k in range(700_000)}
