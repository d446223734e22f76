"""Cost of proofs: `python -m benchmarks.proofs`.

First, `prove` over the whole input beside `prove --since last` over the newest records. Then the
CPU time of `run --prove-every` beside a job with a steady load.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.harness import processes
from benchmarks.harness.brokers import broker
from benchmarks.harness.filling import fill
from benchmarks.harness.processes import Used
from benchmarks.harness.topics import create
from benchmarks.workloads.records import Record
from streamtable.runtime.status.document import FILE

_SCRIPT = """
SET 'execution.mode' = 'micro-batch';
CREATE TABLE orders (id BIGINT, shop INT, amount BIGINT) WITH (
  'connector' = 'kafka', 'topic' = 'orders', 'scan.startup.mode' = 'earliest-offset',
  'properties.bootstrap.servers' = '${servers}', 'format' = 'json');
CREATE TABLE totals (shop INT, orders BIGINT, amount BIGINT, PRIMARY KEY (shop) NOT ENFORCED)
WITH ('connector' = 'upsert-kafka', 'topic' = 'totals', 'key.format' = 'json',
  'value.format' = 'json', 'properties.bootstrap.servers' = '${servers}');
INSERT INTO totals SELECT shop, COUNT(*), SUM(amount) FROM orders GROUP BY shop;
"""
_TIMEOUT_S = 1_800.0
_SAMPLE_S = 0.25
#: Part of the command line of a proof of `run --prove-every`.
_PROOF = b"streamtable.cli.operate.proof_process"


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--history", type=int, default=1_000_000)
    parser.add_argument("--new", type=int, default=50_000)
    parser.add_argument("--shops", type=int, default=10_000)
    parser.add_argument("--rate", type=int, default=1_000, help="records per second")
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--every", default="1min")
    arguments = parser.parse_args()
    print(processes.machine())
    with tempfile.TemporaryDirectory(prefix="benchmark-") as scratch:
        folder = Path(scratch)
        with broker(folder) as kafka:
            create(kafka.bootstrap_servers, ["orders"])
            create(kafka.bootstrap_servers, ["totals"], {"cleanup.policy": "compact"})
            bench = _Bench(folder, kafka.bootstrap_servers, arguments.shops)
            bench.fill(arguments.history)
            bench.command("run", "--bounded")
            print(f"prove, {arguments.history:,} records: {_text(bench.command('prove'))}")
            bench.fill(arguments.new)
            bench.command("run", "--bounded")
            since = bench.command("prove", "--since", "last")
            print(f"prove --since last, {arguments.new:,} records: {_text(since)}")
            whole = bench.command("prove")
            print(f"prove, {arguments.history + arguments.new:,} records: {_text(whole)}")
            print(
                f"whole / since: {whole.seconds / since.seconds:.1f} times the time,"
                f" {whole.used.cpu_s / since.used.cpu_s:.1f} times the CPU time"
            )
            if arguments.seconds:
                bench.beside(arguments.every, arguments.rate, arguments.seconds)


@dataclass(frozen=True)
class _Cost:
    seconds: float
    used: Used


def _text(cost: _Cost) -> str:
    used = cost.used
    return f"{cost.seconds:.1f} s, {used.cpu_s:.1f} s of CPU, {used.peak_mb:,.0f} MB"


class _Bench:
    """Runs commands on one script and its checkpoint."""

    def __init__(self, folder: Path, servers: str, shops: int) -> None:
        self._folder = folder
        self._servers = servers
        self._shops = shops
        self._sent = 0
        (folder / "job.sql").write_text(_SCRIPT)

    def fill(self, count: int) -> None:
        """Send the next records."""
        fill(self._servers, self._records(count))

    def command(self, name: str, *options: str) -> _Cost:
        """Run a command to its end; return what it cost."""
        begun = time.monotonic()
        log = self._folder / f"{name}.log"
        used = processes.run(self._line(name, *options), {}, log, _TIMEOUT_S, self._folder / "none")
        return _Cost(time.monotonic() - begun, used)

    def beside(self, every: str, rate: int, seconds: float) -> None:
        """Run the job with a steady load and repeated proofs; print what both cost."""
        log = self._folder / "beside.log"
        with log.open("wb") as out:
            job = subprocess.Popen(
                self._line("run", "--prove-every", every),
                stdout=out,
                stderr=out,
                start_new_session=True,
            )
        watch = _Proofs()
        watch.start()
        begun = time.monotonic()
        while (now := time.monotonic()) < begun + seconds:
            self.fill(rate)
            time.sleep(max(0.0, now + 1 - time.monotonic()))
        own = processes.cpu_seconds(job.pid)
        watch.done.set()
        watch.join()
        status = json.loads((self._folder / "checkpoint" / FILE).read_text())
        found = status["metrics"]["queries"]["totals"]
        job.terminate()
        job.wait()
        machine = seconds * (os.cpu_count() or 1)
        proofs = sum(watch.cpu.values())
        print(
            f"{rate:,} records/s for {seconds:.0f} s, a proof every {every} at most:"
            f" {len(watch.leaders)} proofs, {proofs:.1f} s of CPU,"
            f" {proofs / machine:.1%} of the machine, {watch.peak_mb:,.0f} MB;"
            f" the job {own / machine:.1%}"
        )
        shown = ("proofDifferences", "proofAge", "proofFailures")
        print(", ".join(f"{name} {found.get(name)}" for name in shown))

    def _line(self, name: str, *options: str) -> Sequence[str]:
        script = str(self._folder / "job.sql")
        checkpoint = str(self._folder / "checkpoint")
        servers = f"servers={self._servers}"
        fixed = (script, "--var", servers, "--checkpoint", checkpoint)
        return [sys.executable, "-m", "streamtable", name, *fixed, *options]

    def _records(self, count: int) -> Iterator[Record]:
        for i in range(self._sent, self._sent + count):
            shop = i * 7_919 % self._shops
            yield "orders", None, b'{"id": %d, "shop": %d, "amount": %d}' % (i, shop, i % 977)
        self._sent += count


class _Proofs(threading.Thread):
    """Samples the proofs of a running job, each with its JVM, until it is stopped."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.done = threading.Event()
        self.leaders: set[int] = set()
        self.cpu: dict[str, float] = {}
        self.peak_mb = 0.0

    def run(self) -> None:
        while not self.done.wait(_SAMPLE_S):
            for line in Path("/proc").glob("[0-9]*/cmdline"):
                try:
                    found = _PROOF in line.read_bytes().split(b"\0")
                except OSError:  # the process has ended
                    continue
                if found:
                    self.leaders.add(int(line.parent.name))
            resident = 0
            for pid, cpu_s, size in processes.members(self.leaders):
                self.cpu[pid] = cpu_s
                resident += size
            self.peak_mb = max(self.peak_mb, resident / 2**20)


if __name__ == "__main__":
    main()
