"""Plots of the results; requires matplotlib, which `make bench` and similar targets install."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt


def distributions(
    found: Mapping[tuple[str, str, int], Sequence[tuple[float, float]]], file: Path
) -> None:
    """Plot cumulative distributions of latencies: a panel per job and rate, a line per engine.

    Args:
        found: job, engine and rate -> (share, milliseconds within which that share arrived).
        file: the image file.
    """
    jobs = list(dict.fromkeys(job for job, _, _ in found))
    rates = sorted({rate for _, _, rate in found})
    figure, axes = plt.subplots(
        len(jobs), len(rates), figsize=(4 * len(rates), 3 * len(jobs)), squeeze=False
    )
    for (job, engine, rate), within in found.items():
        panel = axes[jobs.index(job)][rates.index(rate)]
        panel.plot([ms for _, ms in within], [share for share, _ in within], label=engine)
        panel.set_xscale("log")
        panel.set_title(f"{job}, {rate:,}/s")
        panel.set_xlabel("ms")
        panel.grid(visible=True, alpha=0.3)
    axes[0][0].legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(file, dpi=90)


def over_rates(
    found: Mapping[tuple[str, str, int], Sequence[tuple[float, float]]], file: Path
) -> None:
    """Plot the 99th percentile of latencies over the rate: a panel per job, a line per engine.

    Args:
        found: as in `distributions`.
        file: the image file.
    """
    jobs = list(dict.fromkeys(job for job, _, _ in found))
    figure, axes = plt.subplots(1, len(jobs), figsize=(4 * len(jobs), 3.5), squeeze=False)
    for job, panel in zip(jobs, axes[0], strict=True):
        for engine in dict.fromkeys(e for j, e, _ in found if j == job):
            rates = sorted(r for j, e, r in found if (j, e) == (job, engine))
            worst = [dict(found[job, engine, rate])[0.99] for rate in rates]
            panel.plot(rates, worst, marker="o", label=engine)
        panel.axhline(100, color="gray", linestyle=":")
        panel.set_xscale("log")
        panel.set_yscale("log")
        panel.set_title(job)
        panel.set_xlabel("records/s")
        panel.set_ylabel("p99, ms")
        panel.grid(visible=True, alpha=0.3)
    axes[0][0].legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(file, dpi=90)


def rates(found: Mapping[str, Mapping[str, float]], file: Path) -> None:
    """Plot records per second: a group of bars per workload, a bar per engine."""
    engines = list(dict.fromkeys(e for by_engine in found.values() for e in by_engine))
    figure, axis = plt.subplots(figsize=(1.6 * len(found) + 2, 4))
    width = 0.8 / len(engines)
    for number, engine in enumerate(engines):
        places = [i + number * width for i in range(len(found))]
        axis.bar(places, [of.get(engine, 0) for of in found.values()], width, label=engine)
    axis.set_xticks([i + 0.4 - width / 2 for i in range(len(found))], list(found), rotation=20)
    axis.set_ylabel("records/s")
    axis.legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(file, dpi=90)
