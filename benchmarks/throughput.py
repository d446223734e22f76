"""Throughput compared with Flink's, in one run on one broker: `make bench`.

Both engines read the same topics to their end, with two state partitions in RocksDB and a
checkpoint every 10 s. They alternate in running first. The rate is the number of source records
divided by a time. That time runs from the moment when the sources begin to read until Kafka
accepted the last result record, so that startup is excluded. For streamtable, the sources begin
when the first batch is written to the checkpoint. For Flink, they begin when its log says that the
sources run. Flink runs with its defaults and with mini-batches; the better result counts. The
results, folded by key, must be identical to the byte.

If a workload reads one append-only topic, Spark itself is measured, too. It only decodes the
records and writes nothing (`bare_spark.py`). Its time runs from the start of its first batch to the
end of its last one.

- `--only NAME` selects workloads.
- `--scale 0.1` makes the workloads smaller.
- `--rounds N` repeats each workload.
- `--engines` selects engines.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from string import Template

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks import flink, processes
from benchmarks.brokers import broker
from benchmarks.filling import fill
from benchmarks.throughput_report import (
    FLINK,
    MINI_BATCHED,
    OURS,
    SPARK,
    Figure,
    report,
    with_earlier,
    write,
)
from benchmarks.topics import create, delete, result
from benchmarks.workloads import WORKLOADS, Workload

TIMEOUT_S = 1_800.0
FLINK_SETTINGS = {
    "parallelism.default": "2",
    "state.backend.type": "rocksdb",
    "execution.checkpointing.interval": "10 s",
    "table.local-time-zone": "UTC",
    # Size of RocksDB's memory in a task manager of 4 GiB. A job in a single process, as PyFlink
    # runs it, ignores the process size and has only 128 MB by default.
    "taskmanager.memory.managed.size": "1340 mb",
}
#: Flink's engines -> additional settings.
FLINKS: dict[str, dict[str, str]] = {
    FLINK: {},
    MINI_BATCHED: {
        "table.exec.mini-batch.enabled": "true",
        "table.exec.mini-batch.allow-latency": "2 s",
        "table.exec.mini-batch.size": "50000",
    },
}

#: Time when an engine's sources began to read, and the end time of an engine without output.
Times = tuple[float, float | None]

#: Runs a workload in a folder; returns the used resources and the times.
Engine = Callable[[Workload, str, Path], tuple[processes.Used, Times]]


def main() -> None:
    """Run the benchmark."""
    arguments = _arguments()
    installed = flink.installed()
    known = {OURS: _ours(arguments.set), SPARK: _bare_spark}
    known |= {name: _flink(installed, extra) for name, extra in FLINKS.items()}
    engines = {name: known[name] for name in arguments.engines}
    figures: list[Figure] = []
    for name in arguments.only or WORKLOADS:
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
    figures = []
    folds: dict[str, object] = {}
    with tempfile.TemporaryDirectory(prefix="benchmark-") as scratch, _broker(scratch) as servers:
        create(servers, workload.sources, {})
        records = fill(servers, workload.records(scale))
        order = [name for name in engines if name != SPARK or workload.schema is not None]
        for number in range(rounds):
            for name in order:
                folder = Path(scratch) / "run"
                folder.mkdir()
                create(servers, workload.sinks, {"message.timestamp.type": "LogAppendTime"})
                used, (begun, ended) = engines[name](workload, servers, folder)
                written, last, fold = result(servers, workload.sinks)
                if ended is None:
                    folds[name] = fold
                seconds = (ended or last) - begun
                figure = Figure(
                    str(date.today()),
                    workload.name,
                    name,
                    records,
                    records / seconds,
                    seconds,
                    used.cpu_s,
                    used.peak_mb,
                    used.disk_mb,
                    written,
                )
                print(f"{workload.name}, round {number + 1}: {figure}", flush=True)
                figures.append(figure)
                delete(servers, workload.sinks)
                shutil.rmtree(folder)
            order.reverse()
    first, *others = folds or [SPARK]
    different = [name for name in others if folds[name] != folds[first]]
    if different:
        message = f"{workload.name}: {', '.join(different)} and {first} differ in their results"
        raise SystemExit(message)
    return figures


@contextmanager
def _broker(scratch: str) -> Iterator[str]:
    quiet = {"log.retention.check.interval.ms": "86400000", "log.cleaner.enable": "false"}
    with broker(Path(scratch), quiet) as kafka:
        yield kafka.bootstrap_servers


def _ours(extra: Sequence[str]) -> Engine:
    def run(workload: Workload, servers: str, folder: Path) -> tuple[processes.Used, Times]:
        script = folder / "job.sql"
        script.write_text(Template(workload.script).substitute(servers=servers, end=""))
        checkpoint = folder / "checkpoint"
        command = [sys.executable, "-m", "streamtable", "run", str(script), "--bounded"]
        command += ["--checkpoint", str(checkpoint), "--master", "local[2]"]
        for setting in ("parallelism.default=2", "table.local-time-zone=UTC", *extra):
            command += ["--set", setting]
        used = processes.run(command, {}, folder / "out.log", TIMEOUT_S, checkpoint)
        # The start file of each source is kept. The first batch's own file is deleted after a few
        # batches.
        begun = [file.stat().st_mtime for file in checkpoint.glob("*/sources/*/0")]
        return used, (min(begun), None)

    return run


def _bare_spark(workload: Workload, servers: str, folder: Path) -> tuple[processes.Used, Times]:
    checkpoint = folder / "checkpoint"
    script = str(Path(__file__).with_name("bare_spark.py"))
    topic, schema = workload.sources[0], workload.schema or ""
    command = [sys.executable, script, servers, topic, schema, str(checkpoint)]
    used = processes.run(command, {}, folder / "out.log", TIMEOUT_S, checkpoint)
    commits = [file.stat().st_mtime for file in checkpoint.glob("commits/[0-9]*")]
    return used, ((checkpoint / "offsets" / "0").stat().st_mtime, max(commits))


def _flink(installed: flink.Flink, extra: dict[str, str]) -> Engine:
    def run(workload: Workload, servers: str, folder: Path) -> tuple[processes.Used, Times]:
        end = "'scan.bounded.mode' = 'latest-offset',"
        script = Template(workload.script).substitute(servers=servers, end=end)
        checkpoints = {"execution.checkpointing.dir": f"file://{folder}/checkpoint"}
        settings = {**FLINK_SETTINGS, **extra, **checkpoints}
        used, begun = flink.run(installed, script, settings, folder, TIMEOUT_S)
        return used, (begun, None)

    return run


if __name__ == "__main__":
    main()
