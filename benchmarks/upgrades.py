"""Gap of an upgrade for readers: `python -m benchmarks.upgrades`.

A job with a row for each key runs under a steady load. `upgrade --stop-job --run` changes its query
and runs the changed job. A consumer of the sink notes when its records were written.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from confluent_kafka import Consumer

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.harness import processes
from benchmarks.harness.brokers import broker
from benchmarks.harness.filling import fill
from benchmarks.harness.topics import create
from benchmarks.workloads.records import Record

_TABLES = """
CREATE TABLE orders (id BIGINT, shop INT, amount BIGINT) WITH (
  'connector' = 'kafka', 'topic' = 'orders', 'scan.startup.mode' = 'earliest-offset',
  'properties.bootstrap.servers' = '${servers}', 'format' = 'json');
CREATE TABLE totals (shop INT, orders BIGINT, amount BIGINT, PRIMARY KEY (shop) NOT ENFORCED)
WITH ('connector' = 'upsert-kafka', 'topic' = 'totals', 'key.format' = 'json',
  'value.format' = 'json', 'properties.bootstrap.servers' = '${servers}');
INSERT INTO totals SELECT shop, COUNT(*), SUM(amount) FROM orders
"""
_OLD = _TABLES + "GROUP BY shop;"
#: Changes one key of twenty.
_NEW = _TABLES + "WHERE MOD(amount, 20) > 0 GROUP BY shop;"
#: How long a job writes before its times count, in seconds.
_STEADY_S = 20
#: The longest wait for a job, in seconds.
_PATIENCE_S = 600


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--keys", type=int, default=1_000_000)
    parser.add_argument("--records", type=int, default=2_000_000)
    parser.add_argument("--rate", type=int, default=500, help="records per second")
    arguments = parser.parse_args()
    print(processes.machine())
    with tempfile.TemporaryDirectory(prefix="benchmark-") as scratch:
        folder = Path(scratch)
        with broker(folder) as kafka:
            create(kafka.bootstrap_servers, ["orders"])
            lag = {"cleanup.policy": "compact", "min.compaction.lag.ms": "3600000"}
            create(kafka.bootstrap_servers, ["totals"], lag)
            _Bench(folder, kafka.bootstrap_servers, arguments.keys, arguments.rate).run(
                arguments.records
            )


class _Bench:
    """The job, its load and the reader of its sink."""

    def __init__(self, folder: Path, servers: str, keys: int, rate: int) -> None:
        self._folder, self._servers = folder, servers
        self._keys, self._rate = keys, rate
        self._sent = 0
        (folder / "old.sql").write_text(_OLD)
        (folder / "new.sql").write_text(_NEW)

    def run(self, history: int) -> None:
        """Upgrade the running job; print how long the reader has seen no record."""
        fill(self._servers, self._records(history))
        reader = _Reader(self._servers)
        reader.start()
        load = threading.Thread(target=self._load, args=(reader.done,))
        load.start()
        old = subprocess.Popen(self._line("run", "old.sql"))
        reader.wait(time.time() + _STEADY_S)
        begun = time.time()
        new = subprocess.Popen(self._line("upgrade", "new.sql", "--stop-job", "--run"))
        old.wait(_PATIENCE_S)
        stopped = time.time()
        reader.wait(stopped + _STEADY_S)
        reader.wait(time.time() + _STEADY_S)
        reader.done.set()
        load.join()
        reader.join()
        new.terminate()
        new.wait()
        print(
            f"{self._keys:,} keys, {self._rate:,} records/s: {stopped - begun:.1f} s until the old"
            f" job has ended; times without a record, in seconds: {', '.join(reader.gaps(begun))}"
        )

    def _line(self, name: str, script: str, *options: str) -> Sequence[str]:
        fixed = (str(self._folder / script), "--var", f"servers={self._servers}")
        checkpoint = str(self._folder / "checkpoint")
        line = (sys.executable, "-m", "streamtable", name)
        return [*line, *fixed, "--checkpoint", checkpoint, *options]

    def _load(self, done: threading.Event) -> None:
        while not done.wait(0.1):
            fill(self._servers, self._records(self._rate // 10))

    def _records(self, count: int) -> Iterator[Record]:
        for i in range(self._sent, self._sent + count):
            shop = i * 7_919 % self._keys
            yield "orders", None, b'{"id": %d, "shop": %d, "amount": %d}' % (i, shop, i % 977)
        self._sent += count


class _Reader(threading.Thread):
    """Notes when records of the sink were written, in epoch seconds, until it is stopped."""

    def __init__(self, servers: str) -> None:
        super().__init__(daemon=True)
        self.done = threading.Event()
        self.times: list[float] = []
        group = {"group.id": "reader", "auto.offset.reset": "earliest"}
        self._consumer = Consumer({"bootstrap.servers": servers, **group})

    def run(self) -> None:
        self._consumer.subscribe(["totals"])
        while not self.done.is_set():
            found = self._consumer.consume(10_000, 0.01)
            self.times += sorted({record.timestamp()[1] / 1000 for record in found})
        self._consumer.close()

    def wait(self, moment: float) -> None:
        """Wait for a record that was written after a moment."""
        deadline = time.monotonic() + _PATIENCE_S
        while not self.times or self.times[-1] < moment:
            if time.monotonic() > deadline:
                message = f"the job has written nothing for {_PATIENCE_S} s"
                raise TimeoutError(message)
            time.sleep(0.05)

    def gaps(self, since: float) -> list[str]:
        """Return the three longest times between two records after a moment, in seconds."""
        times = sorted(at for at in self.times if at >= since)
        found = sorted((after - before for before, after in pairwise(times)), reverse=True)
        return [f"{gap:.1f}" for gap in found[:3]]


if __name__ == "__main__":
    main()
