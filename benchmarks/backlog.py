"""Auto mode over a backlog: `python benchmarks/backlog.py`.

A topic contains millions of records when the job starts. The benchmark compares the read rate of
micro-batches with that of auto mode. The time runs from the write of the first batch's offsets to
the commit of the batch with the last record. In auto mode, the same run then continues, and its
latencies are measured as in `latency.py`, without a new start.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from string import Template

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks import latency
from benchmarks.harness import probes, processes
from benchmarks.harness.brokers import broker
from benchmarks.harness.filling import fill
from benchmarks.harness.latency_report import figure
from benchmarks.harness.topics import create

JOB = "group-by"
TIMEOUT_S = 600.0
#: Time for the change of mode and its first checkpoints, excluded from the latencies.
SETTLE_S = 15.0


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=int, default=5_000_000)
    parser.add_argument("--rates", nargs="+", type=int, default=[100, 1_000])
    parser.add_argument("--seconds", type=float, default=60.0)
    arguments = parser.parse_args()
    print(f"{processes.machine()}; {arguments.records:,} records")
    plain = _measure("micro-batch", arguments.records, (), 0)
    auto = _measure("auto", arguments.records, arguments.rates, arguments.seconds)
    print(f"micro-batch {plain:,.0f} records/s, auto {auto:,.0f}: {auto / plain:.2f}")


def _measure(mode: str, records: int, rates: Sequence[int], seconds: float) -> float:
    """Return records per second over the backlog; print latencies at the rates after it."""
    with tempfile.TemporaryDirectory(prefix="benchmark-") as scratch:
        folder = Path(scratch)
        with broker(folder) as kafka:
            servers = kafka.bootstrap_servers
            create(servers, probes.TOPICS)
            producer = probes.sender(servers)
            fill(servers, (probes.record("t", i % probes.KEYS) for i in range(records)))
            script = Template(latency.JOBS[JOB]).substitute(servers=servers)
            with latency.running_ours(mode, script, folder):
                rate = records / _drained(folder / "checkpoint" / "o", records)
                if rates:
                    time.sleep(SETTLE_S)
                    with probes.Results(servers) as results:
                        for each in rates:
                            found = probes.at(each, seconds, producer, results)
                            print(figure(JOB, f"ours, {mode}", each, found), flush=True)
    return rate


def _drained(checkpoint: Path, records: int) -> float:
    """Return the seconds until the backlog was committed."""
    deadline = time.monotonic() + TIMEOUT_S
    first = checkpoint / "offsets" / "0"
    while time.monotonic() < deadline:
        for commit in sorted((checkpoint / "commits").glob("[0-9]*"), key=lambda f: int(f.name)):
            if _read(checkpoint / "offsets" / commit.name) >= records:
                return commit.stat().st_mtime - first.stat().st_mtime
        time.sleep(0.2)
    message = f"{records:,} records were not read in {TIMEOUT_S:.0f} s"
    raise RuntimeError(message)


def _read(offsets: Path) -> int:
    """Return the number of records up to the end of a batch, over all partitions."""
    ends = [json.loads(line) for line in offsets.read_text().splitlines()[2:]]
    return sum(end for source in ends for topic in source.values() for end in topic.values())


if __name__ == "__main__":
    main()
