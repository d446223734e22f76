"""Run a workload on each engine: streamtable, Flink in two settings, and Spark itself."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from pathlib import Path
from string import Template

from benchmarks.engines import flink
from benchmarks.harness import processes
from benchmarks.harness.throughput_report import FLINK, MINI_BATCHED, Figure
from benchmarks.harness.topics import Rows, create, delete, result
from benchmarks.workloads.workloads import Workload

TIMEOUT_S = 3_600.0
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


def rounds_of(
    workload: Workload,
    servers: str,
    engines: Mapping[str, Engine],
    scratch: Path,
    records: int,
    rounds: int,
) -> tuple[list[Figure], dict[str, Rows]]:
    """Run a workload over its filled topics on each engine; they alternate in running first.

    Args:
        workload: the job; its sources are filled.
        servers: addresses of the broker.
        engines: the engines by their names.
        scratch: folder for the files of the runs.
        records: number of source records.
        rounds: number of runs of each engine.

    Returns:
        A figure for each run, and for each engine with output its result folded by key.
    """
    figures = []
    folds: dict[str, Rows] = {}
    order = list(engines)
    for number in range(rounds):
        for name in order:
            folder = scratch / "run"
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
    return figures, folds


def difference(workload: Workload, folds: Mapping[str, Rows]) -> str | None:
    """Return which engines differ in their results, as text; None if all are equal.

    Columns that the workload does not determine are not compared.
    """
    names = list(folds)
    rows = {name: fold.without(workload.undetermined) for name, fold in folds.items()}
    different = [name for name in names[1:] if rows[name] != rows[names[0]]]
    if not different:
        return None
    return f"{workload.name}: {', '.join(different)} and {names[0]} differ in their results"


def ours(extra: Sequence[str]) -> Engine:
    """Return streamtable in its own process, with additional settings, `key=value`."""

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


def bare_spark(workload: Workload, servers: str, folder: Path) -> tuple[processes.Used, Times]:
    """Run Spark alone, which decodes the records and writes nothing."""
    checkpoint = folder / "checkpoint"
    script = str(Path(__file__).with_name("bare_spark.py"))
    topic, schema = workload.sources[0], workload.schema or ""
    command = [sys.executable, script, servers, topic, schema, str(checkpoint)]
    used = processes.run(command, {}, folder / "out.log", TIMEOUT_S, checkpoint)
    commits = [file.stat().st_mtime for file in checkpoint.glob("commits/[0-9]*")]
    return used, ((checkpoint / "offsets" / "0").stat().st_mtime, max(commits))


def on_flink(installed: flink.Flink, extra: Mapping[str, str]) -> Engine:
    """Return Flink with additional settings."""

    def run(workload: Workload, servers: str, folder: Path) -> tuple[processes.Used, Times]:
        end = "'scan.bounded.mode' = 'latest-offset',"
        script = Template(workload.script).substitute(servers=servers, end=end)
        checkpoints = {"execution.checkpointing.dir": f"file://{folder}/checkpoint"}
        settings = {**FLINK_SETTINGS, **extra, **checkpoints}
        used, begun = flink.run(installed, script, settings, folder, TIMEOUT_S)
        return used, (begun, None)

    return run
