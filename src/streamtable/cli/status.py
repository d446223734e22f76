"""The status of a running job: a line written over on a terminal, a line a minute elsewhere."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TextIO

import click

from streamtable.core.secrets import without_secrets

#: Seconds between two lines on a terminal, and elsewhere.
_TERMINAL_S, _PLAIN_S = 1.0, 60.0


@dataclass
class StatusLine:
    """Shows a job's metrics, and keeps other lines apart from them.

    Attributes:
        values: `JobMetrics.values`.
        out: where lines go; what is a terminal is asked of it.
    """

    values: Callable[[], dict[str, dict[str, dict[str, Any]]]]
    out: TextIO
    clock: Callable[[], float] = time.monotonic

    def __post_init__(self) -> None:
        self._terminal = self.out.isatty()
        self._next = self.clock() + (_TERMINAL_S if self._terminal else _PLAIN_S)
        self._shown = False

    def tick(self) -> None:
        """Shows the status where it is time to."""
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
        """A line that stays; the status comes again below it."""
        self.clear()
        self.out.write(without_secrets(line) + "\n")
        self.out.flush()

    def show(self, line: str) -> None:
        """A line of a result, which goes to standard output."""
        self.clear()
        click.echo(line)

    def clear(self) -> None:
        """Takes the status away."""
        if self._shown:
            self.out.write("\r\x1b[K")
            self.out.flush()
            self._shown = False


def status(values: dict[str, dict[str, dict[str, Any]]]) -> str:
    """Rate, lag, watermark, state and latest checkpoint of a whole job in one line."""
    tables, queries = values["tables"].values(), values["queries"].values()
    parts = [
        f"in {_sum(tables, 'numRecordsInPerSecond'):,.0f}/s",
        f"out {_sum(tables, 'numRecordsOutPerSecond'):,.0f}/s",
        f"pending {_sum(tables, 'pendingRecords'):,.0f}",
    ]
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


def _sum(owners: Any, name: str) -> float:
    return sum(owner.get(name) or 0 for owner in owners)
