"""Run cases and collect their outcomes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import SparkSession

from streamtable.core.errors import StreamtableError
from streamtable.core.settings.session import SessionSettings
from streamtable.runtime.session.spark import start_spark, stop_spark
from streamtable.sqltest.compare import differences, final_tables, show
from streamtable.sqltest.cuts import cut
from streamtable.sqltest.memory import Memory
from streamtable.sqltest.model import Bound, Case


@dataclass(frozen=True)
class Outcome:
    """The outcome of one case.

    Attributes:
        lines: the differences or the error, one line each; empty for a case that passed.
        seconds: the duration.
    """

    file: Path
    case: str
    lines: tuple[str, ...]
    seconds: float


@contextmanager
def local_spark(notice: Callable[[str], None]) -> Iterator[SparkSession]:
    """Start Spark in one JVM with two tasks, and stop it at the end."""
    spark = start_spark(SessionSettings().current(), "local[2]", notice=notice)
    try:
        yield spark
    finally:
        stop_spark(spark)


def run_case(memory: Memory, case: Case, cuts: int = 0, seed: int = 0) -> Outcome:
    """Run a case as written, then under random batch cuts.

    Args:
        memory: the runner of the case's file.
        case: the case.
        cuts: the number of further runs, each with other batches.
        seed: the seed of the first of these runs; each further run adds one.
    """
    begun = time.monotonic()
    bound = memory.bound
    try:
        found = memory.run(case.batches)
        lines = differences(case, found, bound.zone)
        for number in range(seed, seed + cuts):
            if lines:
                break
            lines = _cut_differences(memory, case, number)
    except StreamtableError as error:
        lines = [str(error)]
    return Outcome(bound.file.path, case.name, tuple(lines), time.monotonic() - begun)


def _cut_differences(memory: Memory, case: Case, seed: int) -> list[str]:
    """Run a case under the cuts of a seed; return the tables that differ from those as written."""
    whole = final_tables(case, memory.run(case.batches))
    pieces = final_tables(case, memory.run(cut(case.batches, seed)))
    wrong = [name for name in whole if whole[name] != pieces[name]]
    lines = []
    for name in wrong:
        lines.append(f"table {name}: the final rows depend on the batches (--cuts, seed {seed})")
        for sign, rows in (("-", whole[name] - pieces[name]), ("+", pieces[name] - whole[name])):
            lines += [f"  {sign} {show(row, memory.bound.zone)}" for row in rows.elements()]
    return lines


def selected(bound: Bound, text: str | None) -> list[Case]:
    """Return the cases whose file or name contains a text; all without a text."""
    if text is None:
        return list(bound.cases)
    wanted = text.lower()
    return [c for c in bound.cases if wanted in f"{bound.file.path}::{c.name}".lower()]
