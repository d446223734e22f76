"""Results of `latency.py`: data, a table and plots in `benchmarks/results`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from benchmarks.harness import plots, processes, result_files

#: Checkpoint interval of all engines.
INTERVAL = "60 s"

_SHARES = (*(i / 100 for i in range(100)), 0.995, 0.999, 1.0)


@dataclass(frozen=True)
class Figure:
    """Latencies of one job in one engine at one rate, in milliseconds.

    Attributes:
        records: number of records whose results arrived.
        within: share of the results -> milliseconds, ascending: (0.5, 4.2) is the median.
    """

    day: str
    job: str
    engine: str
    rate: int
    records: int
    within: tuple[tuple[float, float], ...]

    @property
    def cell(self) -> tuple[str, str, int]:
        """Job, engine and rate of the result."""
        return self.job, self.engine, self.rate

    def __str__(self) -> str:
        p50, p90, p99, most = self.milliseconds
        return (
            f"{self.job}, {self.engine}, {self.rate:,}/s:"
            f" p50 {p50:,.1f}, p90 {p90:,.1f}, p99 {p99:,.1f}, max {most:,.1f} ms"
        )

    @property
    def milliseconds(self) -> tuple[float, float, float, float]:
        """50th, 90th and 99th percentile, and maximum."""
        found = dict(self.within)
        return found[0.5], found[0.9], found[0.99], found[1.0]


def figure(job: str, engine: str, rate: int, latencies: Iterable[float]) -> Figure:
    """Compute the distribution of latencies, which are in milliseconds."""
    ordered = sorted(latencies)
    last = len(ordered) - 1
    within = tuple((s, round(ordered[min(last, int(len(ordered) * s))], 1)) for s in _SHARES)
    return Figure(str(date.today()), job, engine, rate, len(ordered), within)


def write(figures: Sequence[Figure]) -> None:
    """Write the result files; called after each job, so that a later failure loses no results."""
    result_files.write("latency", report(figures), figures, indent=None)
    found = {f.cell: f.within for f in figures}
    plots.distributions(found, result_files.RESULTS / "latency.png")
    plots.over_rates(found, result_files.RESULTS / "latency-rates.png")


def with_earlier(figures: Sequence[Figure], jobs: Sequence[str]) -> list[Figure]:
    """Add results of earlier runs that these results do not replace, in the order of the jobs."""
    found = {f.cell: f for f in map(_figure, result_files.read("latency"))}
    found |= {f.cell: f for f in figures}
    engines = list(dict.fromkeys(f.engine for f in found.values()))
    kept = [f for f in found.values() if f.job in jobs]
    return sorted(kept, key=lambda f: (jobs.index(f.job), f.rate, engines.index(f.engine)))


def _figure(found: dict[str, Any]) -> Figure:
    return Figure(**{**found, "within": tuple(map(tuple, found["within"]))})


def report(figures: Sequence[Figure]) -> str:
    """Format the table, one line per result."""
    lines = [
        "# Latency beside Flink's",
        "",
        f"{processes.machine()}; `make bench-latency`.",
        result_files.versions(),
        f"A checkpoint every {INTERVAL}. Milliseconds from a record's production to the arrival of",
        "its result at a consumer. What comes later than two seconds after a rate's last record is",
        "in no figure: an engine that does not keep up is slower than it looks. A result that",
        "stands for several records of a key counts for each of them. Before 28 November 2026, and",
        "for the foreign-key join, it counted for the newest one only. `latency-rates.png` shows",
        "p99 over the rate.",
        "",
        "| job | day | records/s | engine | results | p50 | p90 | p99 | max |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for f in figures:
        shares = " | ".join(f"{each:,.1f}" for each in f.milliseconds)
        lines.append(f"| {f.job} | {f.day} | {f.rate:,} | {f.engine} | {f.records:,} | {shares} |")
    return "\n".join([*lines, ""])
