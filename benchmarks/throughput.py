"""Throughput compared with Flink's, in one run on one broker: `make bench`.

Both engines read the same topics to their end, with two state partitions in RocksDB and a
checkpoint every 10 s. They alternate in running first. The rate is the number of source records
divided by a time. That time runs from the moment when the sources begin to read until Kafka
accepted the last result record, so that startup is excluded. For streamtable, the sources begin
when the first batch is written to the checkpoint. For Flink, they begin when its log says that the
sources run. Flink runs with its defaults and with mini-batches; the better result counts. The
results, folded by key, must be identical to the byte.

If a workload reads one append-only topic, Spark itself is measured, too. It only decodes the
records and writes nothing (`engines/bare_spark.py`). Its time runs from the start of its first
batch to the end of its last one.

- `--only NAME` selects workloads. Without it, state-huge does not run.
- `--scale 0.1` makes the workloads smaller.
- `--rounds N` repeats each workload.
- `--engines` selects engines.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.engines import flink
from benchmarks.engines.engines import (
    FLINKS,
    Engine,
    bare_spark,
    difference,
    on_flink,
    ours,
    rounds_of,
)
from benchmarks.harness.brokers import QUIET, broker
from benchmarks.harness.filling import fill
from benchmarks.harness.throughput_report import OURS, SPARK, Figure, report, with_earlier, write
from benchmarks.harness.topics import create
from benchmarks.workloads.workloads import WHOLE_RUN, WORKLOADS, Workload


def main() -> None:
    """Run the benchmark."""
    arguments = _arguments()
    installed = flink.installed()
    known = {OURS: ours(arguments.set), SPARK: bare_spark}
    known |= {name: on_flink(installed, extra) for name, extra in FLINKS.items()}
    engines = {name: known[name] for name in arguments.engines}
    figures: list[Figure] = []
    for name in arguments.only or WHOLE_RUN:
        figures += _measure(WORKLOADS[name], engines, arguments.scale, arguments.rounds)
        if not arguments.keep_quiet:
            write(with_earlier(figures))
    print(report(figures))


def _arguments() -> argparse.Namespace:
    engines = [OURS, *FLINKS, SPARK]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=list(WORKLOADS), metavar="NAME")
    parser.add_argument("--engines", nargs="+", choices=engines, default=engines, metavar="ENGINE")
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--set", action="append", default=[], help="a setting of ours, key=value")
    parser.add_argument("--keep-quiet", action="store_true", help="print, write no result files")
    return parser.parse_args()


def _measure(
    workload: Workload, engines: dict[str, Engine], scale: float, rounds: int
) -> list[Figure]:
    known = {n: e for n, e in engines.items() if n != SPARK or workload.schema is not None}
    with (
        tempfile.TemporaryDirectory(prefix="benchmark-") as scratch,
        broker(Path(scratch), QUIET) as kafka,
    ):
        servers = kafka.bootstrap_servers
        create(servers, workload.sources, {})
        records = fill(servers, workload.records(scale))
        figures, folds = rounds_of(workload, servers, known, Path(scratch), records, rounds)
    message = difference(workload, folds)
    if message is not None:
        raise SystemExit(message)
    return figures


if __name__ == "__main__":
    main()
