"""CPU use of an idle job, compared with Flink's: `make bench-idle`."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path
from string import Template

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks import latency
from benchmarks.engines import flink
from benchmarks.harness import probes, processes
from benchmarks.harness.brokers import broker
from benchmarks.harness.topics import create

#: Both engines check for rows to send every one or two milliseconds.
ENGINES = ("ours, real-time", "Flink, 1 ms buffers")
#: Time for the first checkpoints and the JIT compilation after a start.
SETTLE_S = 120.0


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--job", choices=list(latency.JOBS), default="group-by")
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=ENGINES)
    parser.add_argument("--seconds", type=float, default=120.0)
    arguments = parser.parse_args()
    installed = flink.installed()
    print(processes.machine())
    job = arguments.job
    for engine in arguments.engines:
        print(f"{job}, {engine}: {_idle(job, engine, installed, arguments.seconds):.1%} of a core")


def _idle(job: str, engine: str, installed: flink.Flink, seconds: float) -> float:
    """Return the CPU cores used by a job and its child processes, without the broker."""
    with tempfile.TemporaryDirectory(prefix="benchmark-") as scratch:
        folder = Path(scratch)
        with broker(folder) as kafka:
            servers = kafka.bootstrap_servers
            create(servers, probes.TOPICS)
            producer = probes.sender(servers)
            probes.fill_sides(producer)
            script = Template(latency.JOBS[job]).substitute(servers=servers)
            with latency.running(engine, installed, script, folder) as process:
                with probes.Results(servers) as results:
                    probes.until_running(producer, results)
                time.sleep(SETTLE_S)
                before = processes.cpu_seconds(process.pid)
                time.sleep(seconds)
                return (processes.cpu_seconds(process.pid) - before) / seconds


if __name__ == "__main__":
    main()
