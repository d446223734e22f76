"""Status of a running job: an updated line on a terminal, else one line per minute."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TextIO

import click

from streamtable.core.secrets import without_secrets
from streamtable.runtime.metrics.omitted_records import OMITTED

#: Counters of omitted records.
_LEFT_OUT = tuple(set(OMITTED) - {"fieldErrors"})
#: Seconds between two lines on a terminal, and in other output.
_TERMINAL_S, _PLAIN_S = 1.0, 60.0


@dataclass
class StatusLine:
    """Status line with a job's metrics, separate from other output.

    Attributes:
        values: `JobMetrics.values`.
        out: output stream; the class asks the stream whether it is a terminal.
    """

    values: Callable[[], dict[str, dict[str, dict[str, Any]]]]
    out: TextIO
    clock: Callable[[], float] = time.monotonic

    def __post_init__(self) -> None:
        self._terminal = self.out.isatty()
        self._next = self.clock() + (_TERMINAL_S if self._terminal else _PLAIN_S)
        self._shown = False

    def tick(self) -> None:
        """Show the status if its interval has passed."""
        if self.clock() < self._next:
            return
        self._next = self.clock() + (_TERMINAL_S if self._terminal else _PLAIN_S)
        text = status(self.values())
        if self._terminal:
            width = shutil.get_terminal_size().columns
            self.out.write("\r\x1b[K" + text[: width - 1])
            self._shown = True
        else:
            self.out.write(text + "\n")
        self.out.flush()

    def notice(self, line: str) -> None:
        """Print a permanent line; the next status line appears below it."""
        self.clear()
        self.out.write(without_secrets(line) + "\n")
        self.out.flush()

    def show(self, line: str) -> None:
        """Print a line of a result to standard output."""
        self.clear()
        click.echo(line)

    def clear(self) -> None:
        """Remove the status line."""
        if self._shown:
            self.out.write("\r\x1b[K")
            self.out.flush()
            self._shown = False


def status(values: dict[str, dict[str, dict[str, Any]]]) -> str:
    """Return rate, lag, mode, watermark, state and last checkpoint of a whole job in one line."""
    tables, queries = values["tables"].values(), values["queries"].values()
    parts = [
        f"in {_sum(tables, 'numRecordsInPerSecond'):,.0f}/s",
        f"out {_sum(tables, 'numRecordsOutPerSecond'):,.0f}/s",
        f"pending {_sum(tables, 'pendingRecords'):,.0f}",
    ]
    modes = sorted({q["mode"] for q in queries if q["mode"] is not None})
    if modes:
        parts.append(" and ".join(modes))
    marks = [q["watermark"] for q in queries if q["watermark"] is not None]
    if marks:
        parts.append(f"watermark {min(marks)}")
    counted = all(q["stateRows"] is not None for q in queries)
    rows = f"{_sum(queries, 'stateRows'):,.0f} rows, " if counted else ""
    parts.append(f"state {rows}{_sum(queries, 'stateBytes') / 1e6:,.1f} MB")
    checkpoints = [q["lastCheckpoint"] for q in queries]
    if checkpoints:
        moment = datetime.fromtimestamp(min(checkpoints)).astimezone()
        parts.append(f"checkpoint {moment:%H:%M:%S}")
    errors = _sum(tables, "numErrors")
    if errors:
        parts.append(f"errors {errors:,.0f}")
    return " | ".join(parts)


def summary(
    values: dict[str, dict[str, dict[str, Any]]], seconds: float, checkpoint: str | None
) -> list[str]:
    """Return a summary of an ended job: one line for each table and one for the job.

    Args:
        values: `JobMetrics.values` at the end of the job.
        seconds: run time.
        checkpoint: checkpoint directory; None if the progress is not kept.
    """
    lines = []
    for name, table in values["tables"].items():
        done = []
        if "numRecordsIn" in table:
            done.append(f"read {table['numRecordsIn']:,}")
        if "numRecordsOut" in table:
            done.append(f"wrote {table['numRecordsOut']:,}")
        out = sum(table.get(counter, 0) for counter in _LEFT_OUT)
        if out:
            done.append(f"skipped {out:,}")
        lines.append(f"{name}: {', '.join(done)} records")
    kept = "no checkpoint is kept" if checkpoint is None else f"checkpoint at {checkpoint}"
    return [*lines, f"ran for {seconds:,.1f} s; {kept}"]


def _sum(owners: Any, name: str) -> float:
    return sum(owner.get(name) or 0 for owner in owners)
