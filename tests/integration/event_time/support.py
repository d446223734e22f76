"""Jobs over rows with event times: events of several partitions, and expected windows."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from confluent_kafka import Producer
from tests.integration.jobs.support import Cli, write

from streamtable.core.errors import Condition, StreamtableError
from streamtable.testing.jobs import BoundedRun

#: The start of all event times.
EPOCH = datetime(2026, 3, 1)

SOURCE = """
CREATE TABLE events (
  ts TIMESTAMP(3), k INT, v INT,
  WATERMARK FOR ts AS ts - INTERVAL '2' SECOND
) WITH (
  'connector' = 'kafka', 'topic' = '${source}', 'scan.startup.mode' = 'earliest-offset',
  'properties.bootstrap.servers' = '${servers}', 'format' = 'json'
);
"""

#: The number of events in each window of ten seconds.
TUMBLED = """
CREATE TABLE tumbled (s TIMESTAMP(3), n BIGINT, PRIMARY KEY (s) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${source}-tumbled',
  'properties.bootstrap.servers' = '${servers}', 'key.format' = 'json', 'value.format' = 'json'
);
INSERT INTO tumbled SELECT window_start, COUNT(*)
FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '10' SECOND))
GROUP BY window_start, window_end;
"""


@dataclass(frozen=True)
class Event:
    """A row of `events`; `ms` is its event time in milliseconds since `EPOCH`, None for NULL."""

    ms: int | None
    k: int
    v: int
    partition: int = 0


def moment(ms: int) -> str:
    """Return a time as text, as JSON formats write it."""
    return (EPOCH + timedelta(milliseconds=ms)).isoformat(sep=" ", timespec="milliseconds")


def millis(text: str) -> int:
    """Return the milliseconds since `EPOCH` of a time that a sink wrote."""
    return int((datetime.fromisoformat(text) - EPOCH) / timedelta(milliseconds=1))


def send(servers: str, topic: str, events: Iterable[Event]) -> None:
    """Write events into their partitions, in order."""
    producer = Producer({"bootstrap.servers": servers, "linger.ms": 20})
    for event in events:
        ts = None if event.ms is None else moment(event.ms)
        value = json.dumps({"ts": ts, "k": event.k, "v": event.v})
        producer.produce(topic, value.encode(), partition=event.partition)
    assert producer.flush(60) == 0


def punctual(seed: int, count: int, partitions: Mapping[int, int]) -> list[Event]:
    """Return random events, none of which is late.

    Args:
        seed: the same seed gives the same events.
        count: the number of events per partition.
        partitions: partition -> the milliseconds at which its clock begins.
    """
    dice = random.Random(seed)
    clocks = {p: iter(_by_clock(dice, count, p, start)) for p, start in partitions.items()}
    turns = [p for p in partitions for _ in range(count)]
    dice.shuffle(turns)
    return [next(clocks[p]) for p in turns]


def _by_clock(dice: random.Random, count: int, partition: int, start: int) -> list[Event]:
    now, events = start, []
    for _ in range(count):
        now += dice.choice([0, 100, 400, 900, 9_000])
        ms = max(now - dice.randrange(2_000), start)
        events.append(Event(ms, dice.randrange(3), dice.randrange(10), partition))
    return events


def watermark(events: Sequence[Event], partitions: Iterable[int]) -> int:
    """Return the watermark: the minimum of the partitions' latest events, less two seconds."""
    return min(max(e.ms or 0 for e in events if e.partition == p) for p in partitions) - 2_000


#: The watermark at the end of the input, above every event time.
END = 10**15

Span = tuple[int, int]


def tumble(ms: int, size: int, offset: int = 0) -> list[Span]:
    start = ms - (ms - offset) % size
    return [(start, start + size)]


def hop(ms: int, slide: int, size: int) -> list[Span]:
    last = ms - ms % slide
    return [(s, s + size) for s in range(last, last - size, -slide)]


def cumulate(ms: int, step: int, size: int) -> list[Span]:
    start = ms - ms % size
    return [(start, end) for end in range(start + step, start + size + 1, step) if end > ms]


def sessions(moments: Iterable[int], gap: int) -> list[Span]:
    found: list[Span] = []
    for ms in sorted(moments):
        if found and ms <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], ms + gap))
        else:
            found.append((ms, ms + gap))
    return found


def grouped(events: Iterable[Event], spans: Any) -> dict[tuple[int, int, int], list[Event]]:
    """Return the events of each (start, end, k)."""
    found: dict[tuple[int, int, int], list[Event]] = {}
    for event in events:
        if event.ms is not None:
            for start, end in spans(event.ms):
                found.setdefault((start, end, event.k), []).append(event)
    return found


#: One task for the state, so that a query in real-time mode fits into Spark's two slots.
ONE_TASK = {"spark.sql.shuffle.partitions": "1"}


def rows_there(job: BoundedRun, name: str) -> dict[Any, Mapping[str, Any]]:
    """Return the rows of an upsert table by its one key column; empty if it has no topic yet."""
    try:
        return {key[0]: row for key, row in job.rows(name).items()}
    except StreamtableError as error:
        assert error.condition is Condition.TOPIC_MISSING
        return {}


def run_apart(
    job: BoundedRun,
    done: Callable[[], bool],
    settings: Mapping[str, str],
    master: str | None = None,
) -> str:
    """Run the job in a process with a slot for every task, and return the process's messages.

    `master` is the Spark master of a job that needs more slots than it has tasks at the start.
    """
    arguments = ["run", write(job.checkpoint.with_suffix(".sql"), job.script)]
    arguments += ["--checkpoint", str(job.checkpoint)]
    arguments += ["--master", master] if master else []
    for key, value in job.variables.items():
        arguments += ["--var", f"{key}={value}"]
    # A checkpoint each second, because the watermark advances at checkpoints.
    quick = {"parallelism.default": "1", "execution.real-time.first-checkpoints": "1000"}
    for key, value in {**settings, **quick}.items():
        arguments += ["--set", f"{key}={value}"]
    process = Cli.start(*arguments)
    process.until(done, pause=0.5)
    process.terminate()
    code, _, told = process.end()
    assert code == 0, told
    return told
