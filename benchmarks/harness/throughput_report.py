"""Results of `throughput.py`: data, a table and a plot in `benchmarks/results`."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.harness import plots, processes, result_files
from benchmarks.workloads.workloads import WORKLOADS

OURS = "streamtable"
FLINK = "Flink"
MINI_BATCHED = "Flink, mini-batch"
SPARK = "bare Spark"

#: Columns of the printed table.
COLUMNS = (
    *("workload", "day", "records", "engine", "records/s", "ratio", "of Spark"),
    *("CPU s", "per M", "MB", "disk", "written"),
)


@dataclass(frozen=True)
class Figure:
    """One run of one engine.

    Attributes:
        records: number of source records.
        rate: source records per second.
        written: number of result records.
        disk_mb: maximum size of the checkpoint folder. Flink keeps only the RocksDB files of its
            checkpoints there; streamtable keeps the last ten versions.
    """

    day: str
    workload: str
    engine: str
    records: int
    rate: float
    seconds: float
    cpu_s: float
    peak_mb: float
    disk_mb: float
    written: int


def write(figures: Sequence[Figure]) -> None:
    """Write the result files; called after each workload, so that a failure loses no results."""
    result_files.write("throughput", report(figures), figures)
    names = dict.fromkeys(f.workload for f in figures)
    rates = {name: _rates(figures, name) for name in names}
    plots.rates(rates, result_files.RESULTS / "throughput.png")


def with_earlier(figures: Sequence[Figure]) -> list[Figure]:
    """Add results of earlier runs for other workloads, in the order of the workloads."""
    measured = {f.workload for f in figures}
    earlier = [Figure(**f) for f in result_files.read("throughput")]
    kept = [f for f in earlier if f.workload in WORKLOADS and f.workload not in measured]
    return sorted([*kept, *figures], key=lambda f: list(WORKLOADS).index(f.workload))


def _rates(figures: Sequence[Figure], workload: str) -> dict[str, float]:
    """Return the median rate of each engine."""
    of_name = [f for f in figures if f.workload == workload]
    engines = dict.fromkeys(f.engine for f in of_name)
    return {e: statistics.median(f.rate for f in of_name if f.engine == e) for e in engines}


def report(figures: Sequence[Figure]) -> str:
    """Format the table of medians: one line per workload and engine."""
    lines = [
        "# Throughput beside Flink's",
        "",
        f"{processes.machine()}; `make bench`, whose `--scale` decides how many records there are.",
        "Ratio: to Flink's better one; of Spark: to Spark itself, which only decodes;",
        "CPU s: of the whole process, also per million records; MB: peak memory;",
        "disk: the most in the checkpoint's folder.",
        result_files.versions(),
        "",
        f"| {' | '.join(COLUMNS)} |",
        "|---" * len(COLUMNS) + "|",
    ]
    for name in dict.fromkeys(f.workload for f in figures):
        of_name = [f for f in figures if f.workload == name]
        rates = _rates(figures, name)
        best = max(
            (rate for engine, rate in rates.items() if engine in (FLINK, MINI_BATCHED)), default=0
        )
        for engine, rate in rates.items():
            some = [f for f in of_name if f.engine == engine]
            cpu = statistics.median(f.cpu_s for f in some)
            peak, disk = max(f.peak_mb for f in some), max(f.disk_mb for f in some)
            ratio = f"{rate / best:.2f}" if best and engine == OURS else ""
            share = f"{rate / rates[SPARK]:.2f}" if SPARK in rates and engine == OURS else ""
            newest = some[-1]
            per_million = cpu / newest.records * 1e6
            lines.append(
                f"| {name} | {newest.day} | {newest.records:,} | {engine} | {rate:,.0f} | {ratio}"
                f" | {share} | {cpu:.0f} | {per_million:.1f} | {peak:,.0f} | {disk:,.0f}"
                f" | {newest.written:,} |"
            )
    lines += ["", *(f"- {w.name}: {w.about}" for w in WORKLOADS.values()), ""]
    return "\n".join(lines)
