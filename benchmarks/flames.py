"""A flame graph of each workload: `make bench-flames`.

Each workload runs once with JDK Flight Recorder, whose samples become
`benchmarks/results/flames/NAME.svg`. Open a file in a browser; the title of a box shows its method
and its share. Flight Recorder samples Java code every 20 ms, and counts native code such as
RocksDB's at half its weight or less (`docs/performance/index.md`).

- `--only NAME` selects workloads. Without it, state-huge does not run.
- `--scale 0.1` makes the workloads smaller.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.engines.engines import ours, rounds_of
from benchmarks.harness.brokers import QUIET, broker
from benchmarks.harness.filling import fill
from benchmarks.harness.flame_graph import STACK_DEPTH, flame_graph
from benchmarks.harness.throughput_report import OURS
from benchmarks.harness.topics import create
from benchmarks.workloads.workloads import WHOLE_RUN, WORKLOADS, Workload

_RESULTS = Path(__file__).with_name("results") / "flames"


def main() -> None:
    """Write the flame graphs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=list(WORKLOADS), metavar="NAME")
    parser.add_argument("--scale", type=float, default=1.0)
    arguments = parser.parse_args()
    _RESULTS.mkdir(exist_ok=True)
    for name in arguments.only or WHOLE_RUN:
        file = _RESULTS / f"{name}.svg"
        file.write_text(_flame_graph(WORKLOADS[name], arguments.scale))
        print(file)


def _flame_graph(workload: Workload, scale: float) -> str:
    with (
        tempfile.TemporaryDirectory(prefix="benchmark-") as scratch,
        broker(Path(scratch), QUIET) as kafka,
    ):
        recording = Path(scratch) / "job.jfr"
        options = (
            f"-XX:FlightRecorderOptions=stackdepth={STACK_DEPTH}"
            f" -XX:StartFlightRecording=filename={recording},settings=profile"
        )
        engines = {OURS: ours([f"spark.driver.extraJavaOptions={options}"])}
        servers = kafka.bootstrap_servers
        create(servers, workload.sources, {})
        records = fill(servers, workload.records(scale))
        (figure,), _ = rounds_of(workload, servers, engines, Path(scratch), records, 1)
        title = f"{workload.name}, {records:,} records, {figure.day}"
        return flame_graph(recording, title)


if __name__ == "__main__":
    main()
