"""Results of `idle.py`: data and a table in `benchmarks/results`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.harness import processes, result_files


@dataclass(frozen=True)
class Figure:
    """CPU use of one idle job in one engine.

    Attributes:
        cores: CPU seconds per second, of the job and its child processes.
        settle_s: seconds from the first result to the start of the measurement.
        seconds: length of the measurement.
    """

    day: str
    job: str
    engine: str
    cores: float
    settle_s: float
    seconds: float

    def __str__(self) -> str:
        return f"{self.job}, {self.engine}: {self.cores:.1%} of a core"


def write(figures: Sequence[Figure]) -> None:
    """Write the result files; called after each result, so that a failure loses none."""
    result_files.write("idle", _report(figures), figures)


def with_earlier(figures: Sequence[Figure], jobs: Sequence[str]) -> list[Figure]:
    """Add results of earlier runs that these results do not replace, in the order of the jobs."""
    earlier = [Figure(**f) for f in result_files.read("idle")]
    found = {(f.job, f.engine): f for f in [*earlier, *figures] if f.job in jobs}
    return sorted(found.values(), key=lambda f: jobs.index(f.job))


def _report(figures: Sequence[Figure]) -> str:
    lines = [
        "# CPU use of an idle job beside Flink's",
        "",
        f"{processes.machine()}; `make bench-idle`.",
        result_files.versions(),
        "No records arrive. The measurement starts some time after the first result, when the",
        "first checkpoints are done. The broker is not included.",
        "",
        "| job | day | engine | starts after, s | seconds | % of a core |",
        "|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {f.job} | {f.day} | {f.engine} | {f.settle_s:.0f} | {f.seconds:.0f}"
        f" | {f.cores * 100:.1f} |"
        for f in figures
    ]
    return "\n".join([*lines, ""])
