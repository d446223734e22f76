"""CPU use of idle jobs beside Flink's: `make bench-idle`.

The jobs are those of `latency.py`. Each runs alone on each engine, for a few minutes. Results are
written to `benchmarks/results`.

- `--only group-by` selects jobs.
- `--engines` selects engines.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from datetime import date
from pathlib import Path
from string import Template

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks import latency
from benchmarks.engines import flink
from benchmarks.harness import probes, processes
from benchmarks.harness.brokers import broker
from benchmarks.harness.idle_report import Figure, with_earlier, write
from benchmarks.harness.topics import create

#: Both engines check for rows to send every one or two milliseconds.
ENGINES = ("ours, real-time", "Flink, 1 ms buffers")
#: Time for the first checkpoints and the JIT compilation after a start.
SETTLE_S = 120.0


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    jobs = list(latency.JOBS)
    parser.add_argument("--only", nargs="+", choices=jobs, default=jobs, metavar="JOB")
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=ENGINES)
    parser.add_argument("--seconds", type=float, default=120.0)
    arguments = parser.parse_args()
    installed = flink.installed()
    print(processes.machine())
    figures: list[Figure] = []
    for job in arguments.only:
        for engine in arguments.engines:
            cores = _idle(job, engine, installed, arguments.seconds)
            day = str(date.today())
            figures.append(Figure(day, job, engine, cores, SETTLE_S, arguments.seconds))
            print(figures[-1])
            write(with_earlier(figures, jobs))


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
