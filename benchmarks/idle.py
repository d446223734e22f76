"""What a job in real-time mode takes of the CPU while nothing comes: `make bench-idle`."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path
from string import Template

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks import latency, probes, processes
from benchmarks.brokers import broker
from benchmarks.topics import create

JOB = "group-by"
#: For the first checkpoints, and what the JVM compiles after a start.
SETTLE_S = 60.0


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60.0)
    seconds = parser.parse_args().seconds
    with tempfile.TemporaryDirectory(prefix="benchmark-") as scratch:
        folder = Path(scratch)
        with broker(folder) as kafka:
            servers = kafka.bootstrap_servers
            create(servers, probes.TOPICS)
            producer = probes.sender(servers)
            script = Template(latency.JOBS[JOB]).substitute(servers=servers)
            with latency.running_ours("real-time", script, folder) as process:
                with probes.Results(servers) as results:
                    probes.until_running(producer, results)
                time.sleep(SETTLE_S)
                before = processes.cpu_seconds(process.pid)
                time.sleep(seconds)
                used = processes.cpu_seconds(process.pid) - before
    print(f"{processes.machine()}; {JOB}, ours, real-time: {used / seconds:.1%} of a core")


if __name__ == "__main__":
    main()
