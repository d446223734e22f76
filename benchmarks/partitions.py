"""Cost of many partitions for a windowed query: `python -m benchmarks.partitions`.

The same records are in topics with few and with many partitions, and are read in several
micro-batches. Spark runs one task per partition for every query. A query without event time
measures the cost of these tasks. The difference to the windowed query is the cost of the watermark.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parents[1]))

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic
from pyspark.sql import SparkSession
from pyspark.sql.streaming.listener import (
    QueryIdleEvent,
    QueryProgressEvent,
    QueryStartedEvent,
    QueryTerminatedEvent,
    StreamingQueryListener,
)

from benchmarks.harness import processes
from benchmarks.harness.brokers import broker
from streamtable.core.options import Given
from streamtable.core.settings.session import SessionSettings
from streamtable.runtime.session.spark import start_spark
from streamtable.testing.jobs import BoundedRun

_BATCHES = 5

_TABLES = """
CREATE TABLE events (ts TIMESTAMP(3), k INT, v INT{watermark}) WITH (
  'connector' = 'kafka', 'topic' = '{topic}', 'scan.startup.mode' = 'earliest-offset',
  'properties.bootstrap.servers' = '{servers}', 'format' = 'json'
);
CREATE TABLE results (s {type}, n BIGINT, PRIMARY KEY (s) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '{topic}-{name}',
  'properties.bootstrap.servers' = '{servers}', 'key.format' = 'json', 'value.format' = 'json'
);
"""
_WINDOW = """
INSERT INTO results SELECT window_start, COUNT(*)
FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '10' SECOND))
GROUP BY window_start, window_end;
"""
_GROUP = "INSERT INTO results SELECT k, COUNT(*) FROM events GROUP BY k;"
_WATERMARK = ", WATERMARK FOR ts AS ts - INTERVAL '2' SECOND"


@dataclass
class _Times(StreamingQueryListener):
    """Durations, in milliseconds, of the batches that read records."""

    planning: list[int] = field(default_factory=list)
    batch: list[int] = field(default_factory=list)

    def onQueryStarted(self, event: QueryStartedEvent) -> None:  # noqa: N802 - Spark's name
        """Ignore the event."""

    def onQueryProgress(self, event: QueryProgressEvent) -> None:  # noqa: N802
        """Record a batch."""
        progress = event.progress
        if progress.numInputRows:
            self.planning.append(progress.durationMs["queryPlanning"])
            self.batch.append(progress.durationMs["triggerExecution"])

    def onQueryIdle(self, event: QueryIdleEvent) -> None:  # noqa: N802
        """Ignore the event."""

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:  # noqa: N802
        """Ignore the event."""


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--partitions", nargs=2, type=int, default=(2, 500))
    parser.add_argument("--records", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    few, many = arguments.partitions
    print(processes.machine())
    with tempfile.TemporaryDirectory(prefix="benchmark-") as scratch:
        folder = Path(scratch)
        with broker(folder) as kafka:
            servers = kafka.bootstrap_servers
            for partitions in (few, many):
                _fill(servers, f"events-{partitions}", partitions, arguments.records)
            spark = _spark()
            _run(spark, servers, few, "warm", arguments.records, folder)
            found = {
                (name, partitions): _rounds(spark, servers, partitions, name, arguments, folder)
                for name in ("grouped", "windowed")
                for partitions in (few, many)
            }
            spark.stop()
    for name in ("grouped", "windowed"):
        for what, which in (("plan", 0), ("batch", 1)):
            fast, slow = found[name, few][which], found[name, many][which]
            print(
                f"{name}, {what}: {fast:,.0f} ms of {few} partitions, {slow:,.0f} ms of {many}:"
                f" {slow / fast:.2f} times"
            )
    for what, which in (("plan", 0), ("batch", 1)):
        own = {p: found["windowed", p][which] / found["grouped", p][which] for p in (few, many)}
        print(f"windowed by grouped, {what}: {own[few]:.2f} of {few}, {own[many]:.2f} of {many}")


def _rounds(
    spark: SparkSession,
    servers: str,
    partitions: int,
    name: str,
    arguments: argparse.Namespace,
    folder: Path,
) -> tuple[float, float]:
    """Return the median milliseconds of planning and of a whole batch."""
    times = [
        _run(spark, servers, partitions, f"{name}-{i}", arguments.records, folder)
        for i in range(arguments.rounds)
    ]
    # The first batch of a run initializes clients and state.
    planning = [ms for one in times for ms in one.planning[1:]]
    batch = [ms for one in times for ms in one.batch[1:]]
    return median(planning), median(batch)


def _run(
    spark: SparkSession, servers: str, partitions: int, name: str, records: int, folder: Path
) -> _Times:
    """Run the query once, as a bounded run."""
    windowed = not name.startswith("grouped")
    script = _TABLES.format(
        topic=f"events-{partitions}",
        servers=servers,
        name=name,
        type="TIMESTAMP(3)" if windowed else "INT",
        watermark=_WATERMARK if windowed else "",
    )
    times = _Times()
    spark.streams.addListener(times)
    try:
        job = BoundedRun(
            spark, script + (_WINDOW if windowed else _GROUP), folder / f"{name}-{partitions}"
        )
        job({"execution.micro-batch.max-records": str(records // _BATCHES)})
        _until_reported(times)
    finally:
        spark.streams.removeListener(times)
    return times


def _until_reported(times: _Times) -> None:
    """Wait for Spark's listener thread to report all batches."""
    deadline = time.monotonic() + 60
    while len(times.batch) < _BATCHES:
        if time.monotonic() > deadline:
            msg = f"only {len(times.batch)} batches were reported of"
            raise TimeoutError(msg)
        time.sleep(0.05)


def _fill(servers: str, topic: str, partitions: int, records: int) -> None:
    """Fill a topic; all its partitions have the same range of event times."""
    admin = AdminClient({"bootstrap.servers": servers})
    admin.create_topics([NewTopic(topic, partitions, 1)])[topic].result(60)
    producer = Producer({"bootstrap.servers": servers, "linger.ms": 50, "log_level": 0})
    for partition, value in _values(partitions, records):
        producer.produce(topic, value, partition=partition)
        producer.poll(0)
    producer.flush()


def _values(partitions: int, records: int) -> Iterator[tuple[int, bytes]]:
    for i in range(records):
        seconds = i * 600 // records
        ts = f"2026-01-01 00:{seconds // 60:02}:{seconds % 60:02}.000"
        yield i % partitions, f'{{"ts": "{ts}", "k": {i % 10}, "v": {i}}}'.encode()


def _spark() -> SparkSession:
    settings = SessionSettings()
    settings.set("parallelism.default", Given("2"))
    return start_spark(settings.current(), "local[2]")


if __name__ == "__main__":
    main()
