"""MySQL into Kafka beside Debezium's embedded engine, in one run: `make bench-mysql`.

Both sides read the same tables of a MariaDB and write upserts as JSON to topics of the same shape.
For each side, the run

1. fills two tables, starts the side and measures the snapshot,
2. stops the side, inserts rows in transactions of 1,000 rows, starts the side again and measures
   how fast it reads these rows from the binlog,
3. commits rows at a constant rate while the side runs, and measures the time from the commit of
   each row to its append to the topic. The first 30 s are a warm-up, for every side; the table has
   their highest latency, too.

Rates are taken between the first and the last record of a phase, by the broker's clock. Brokers,
server, writer and the side share the machine. A later round runs the sides in the reverse order.
The table shows the best round of each figure. Results are written to `benchmarks/results`.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import pyspark
from confluent_kafka import Consumer, KafkaException, TopicPartition

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.mariadb import MariaDb

from benchmarks.engines.mysql_sides import DATABASE, DEBEZIUM, SIDES, STREAMTABLE, Side
from benchmarks.harness import processes
from benchmarks.harness.brokers import broker
from benchmarks.harness.topics import PARTITIONS, create, delete
from benchmarks.workloads.mysql_load import TABLES, commit_at, fill, insert

RESULTS = Path(__file__).parent / "results"
TOPICS = [f"bench.{DATABASE}.{table}" for table in TABLES]
_TOPIC = {"cleanup.policy": "compact", "message.timestamp.type": "LogAppendTime"}
_SERVER = {"innodb_buffer_pool_size": "512M", "innodb_flush_log_at_trx_commit": "2"}
#: The longest wait for a side to write its next record, in seconds.
_PATIENCE_S = 180.0
#: Seconds at the rate before latencies are measured.
_WARM_UP_S = 30.0


@dataclass(frozen=True)
class Figures:
    """The figures of one side in one round.

    Attributes:
        snapshot: rows per second.
        binlog: rows per second.
        start_s: seconds from the start of the process to the first row of the snapshot.
        latencies: milliseconds from a commit to Kafka after the warm-up, in order.
        warm_up: the highest latency of the warm-up.
    """

    side: str
    snapshot: float
    binlog: float
    start_s: float
    latencies: Sequence[float]
    warm_up: float

    def latency(self, share: float) -> float:
        """Return the latency of a share of the rows, in milliseconds."""
        last = len(self.latencies) - 1
        return self.latencies[min(last, int(len(self.latencies) * share))]

    def __str__(self) -> str:
        p50, p99, most = (self.latency(share) for share in (0.5, 0.99, 1.0))
        return (
            f"{self.side}: snapshot {self.snapshot:,.0f} rows/s, binlog {self.binlog:,.0f} rows/s,"
            f" first row after {self.start_s:.1f} s;"
            f" commit to Kafka p50 {p50:,.0f}, p99 {p99:,.0f}, max {most:,.0f} ms,"
            f" max of the warm-up {self.warm_up:,.0f} ms"
        )


class Topics:
    """The topics of a side, as partitions with the number of records that were seen."""

    def __init__(self, servers: str) -> None:
        self._consumer = Consumer(
            {"bootstrap.servers": servers, "group.id": "bench", "enable.auto.commit": False}
        )
        self._partitions = [TopicPartition(t, p) for t in TOPICS for p in range(PARTITIONS)]
        self._seen = [0] * len(self._partitions)

    def phase(self, rows: int, process: subprocess.Popen[bytes]) -> tuple[float, float]:
        """Wait for that many further records; return the times of the first and the last one."""
        until, before = time.monotonic() + _PATIENCE_S, -1
        while True:
            ends = self._ends()
            found = sum(ends) - sum(self._seen)
            if found >= rows:
                break
            if found != before:
                until, before = time.monotonic() + _PATIENCE_S, found
            if process.poll() is not None or time.monotonic() > until:
                message = f"{found} of {rows} records"
                raise RuntimeError(message)
            time.sleep(0.2)
        if found > rows:
            message = f"{found} records for {rows} rows"
            raise RuntimeError(message)
        pairs = list(zip(self._partitions, self._seen, ends, strict=True))
        firsts = [next(self._times(p, start, start + 1))[1] for p, start, end in pairs if end]
        lasts = [next(self._times(p, end - 1, end))[1] for p, _, end in pairs if end]
        self._seen = ends
        return min(firsts) / 1e3, max(lasts) / 1e3

    def since_phase(self) -> dict[tuple[str, bytes], int]:
        """Return the times of the records after the last phase, by topic and key."""
        found = {}
        for part, start, end in zip(self._partitions, self._seen, self._ends(), strict=True):
            for key, millis in self._times(part, start, end):
                found[part.topic, key] = millis
        return found

    def close(self) -> None:
        """Close the consumer."""
        self._consumer.close()

    def _ends(self) -> list[int]:
        return [self._end(part) for part in self._partitions]

    def _end(self, part: TopicPartition) -> int:
        until = time.monotonic() + 30
        while True:
            try:
                return int(self._consumer.get_watermark_offsets(part, timeout=30)[1])
            except KafkaException:  # a new topic has no leader yet
                if time.monotonic() > until:
                    raise
                time.sleep(0.2)

    def _times(self, part: TopicPartition, start: int, end: int) -> Iterator[tuple[bytes, int]]:
        self._consumer.assign([TopicPartition(part.topic, part.partition, start)])
        at = start
        while at < end:
            for message in self._consumer.consume(min(5_000, end - at), timeout=10):
                offset = message.offset()
                if message.error() is None and offset is not None and offset < end:
                    yield message.key() or b"", message.timestamp()[1]
                    at = offset + 1


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sides", nargs="+", choices=SIDES, default=list(SIDES))
    parser.add_argument("--rows", type=int, default=300_000, help="of each table")
    parser.add_argument("--rate", type=int, default=1_000, help="rows per second")
    parser.add_argument("--seconds", type=float, default=60.0, help="at the rate")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--keep-quiet", action="store_true", help="print, write no result files")
    arguments = parser.parse_args()
    figures: list[Figures] = []
    scratch = Path(tempfile.mkdtemp(prefix="streamtable-bench-"))
    try:
        (scratch / "mariadb").mkdir()
        with broker(scratch) as kafka, MariaDb(scratch / "mariadb", _SERVER) as server:
            for number in range(arguments.rounds):
                sides = arguments.sides if number % 2 == 0 else arguments.sides[::-1]
                for name in sides:
                    folder = scratch / f"{number} {name}"
                    folder.mkdir()
                    side = Side(name, folder, server.port, kafka.bootstrap_servers)
                    figures.append(measure(side, server, arguments))
                    print(figures[-1], flush=True)
    finally:
        shutil.rmtree(scratch)
    text = report(figures, arguments)
    print(text)
    if not arguments.keep_quiet:
        RESULTS.mkdir(exist_ok=True)
        (RESULTS / "mysql.md").write_text(text)


def measure(side: Side, server: MariaDb, arguments: argparse.Namespace) -> Figures:
    """Measure one side, with new tables and topics."""
    rows = arguments.rows
    server.run(f"DROP DATABASE IF EXISTS {DATABASE}", f"CREATE DATABASE {DATABASE}")
    fill(server, rows)
    create(side.servers, TOPICS, _TOPIC)
    topics = Topics(side.servers)
    try:
        begun = time.time()
        with side.running() as process:
            first, last = topics.phase(len(TABLES) * rows, process)
        snapshot, start_s = len(TABLES) * rows / (last - first), first - begun
        insert(server, rows)
        with side.running() as process:
            first, last = topics.phase(len(TABLES) * rows, process)
            binlog = len(TABLES) * rows / (last - first)
            commits = commit_at(server, arguments.rate, _WARM_UP_S + arguments.seconds)
            time.sleep(5)
        arrived = topics.since_phase()
    except Exception:
        print(side.log(), file=sys.stderr)
        raise
    finally:
        topics.close()
    delete(side.servers, TOPICS)
    counts_from = commits[0].at_ms + _WARM_UP_S * 1e3
    latencies: list[float] = []
    warm_up: list[float] = []
    for row in commits:
        latency = arrived[f"bench.{DATABASE}.{row.table}", row.key] - row.at_ms
        (latencies if row.at_ms >= counts_from else warm_up).append(latency)
    return Figures(side.name, snapshot, binlog, start_s, sorted(latencies), max(warm_up))


def report(figures: Sequence[Figures], arguments: argparse.Namespace) -> str:
    """Format the table: the best round of each side, and ratios to Debezium."""
    names = list(dict.fromkeys(f.side for f in figures))
    load = ", ".join(f"{x:.1f}" for x in os.getloadavg())
    head = (
        "# MySQL into Kafka beside Debezium's embedded engine\n\n"
        f"`make bench-mysql`, {date.today().isoformat()}; {processes.machine()}; {arguments.rounds}"
        f" rounds; load at the end {load}. Spark {pyspark.__version__}, Debezium {DEBEZIUM}, Python"
        f" {platform.python_version()}, MariaDB 10.11.\n\n"
        f"Two tables of {arguments.rows:,} rows and six columns; as many rows from the binlog; then"
        f" {arguments.rate:,} rows/s for {arguments.seconds:.0f} s, after a warm-up of"
        f" {_WARM_UP_S:.0f} s at the same rate. Both sides write keys and rows"
        " as JSON, at least once. Server, broker, writer and side share the machine. Rates are rows"
        " per second between the first and the last record, with the ratio to Debezium's best. p50,"
        " p99 and max: milliseconds from the COMMIT of a row to its append to the topic, without"
        " rows of the warm-up. The last column is the max of the warm-up.\n\n"
        "| side | snapshot | ratio | binlog | ratio | start, s | p50 | p99 | max | warm-up max |\n"
        "|---|---|---|---|---|---|---|---|---|---|\n"
    )
    lines = []
    other = [f for f in figures if f.side != STREAMTABLE] or figures
    snapshot, binlog = max(f.snapshot for f in other), max(f.binlog for f in other)
    for name in names:
        own = [f for f in figures if f.side == name]
        rates = max(f.snapshot for f in own), max(f.binlog for f in own)
        latency = min(own, key=lambda f: f.latency(0.99))
        shares = " | ".join(f"{latency.latency(share):,.0f}" for share in (0.5, 0.99, 1.0))
        lines.append(
            f"| {name} | {rates[0]:,.0f} | **{rates[0] / snapshot:.2f}** | {rates[1]:,.0f}"
            f" | **{rates[1] / binlog:.2f}** | {min(f.start_s for f in own):.1f} | {shares}"
            f" | {latency.warm_up:,.0f} |\n"
        )
    return head + "".join(lines)


if __name__ == "__main__":
    main()
