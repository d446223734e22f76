"""What the sampled rows of a source show about its event times and keys."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import timedelta
from itertools import groupby

from streamtable.connector_api.findings import Finding, Severity
from streamtable.core.durations import format_duration
from streamtable.core.settings.table import IDLE_TIMEOUT
from streamtable.core.table import Table
from streamtable.plan.node import Key

#: A key with a greater share of a sample is reported: one task processes all of its records.
_HOT = 0.2
#: Fewer records show no distribution.
_ENOUGH = 100
#: A split whose newest event time is so much older than another's is reported.
_BEHIND = timedelta(minutes=10)

_MICROSECOND = timedelta(microseconds=1)

#: Split, position, event time and watermark of a row; times are in microseconds, or None for NULL.
TimedRow = tuple[int, int, int | None, int | None]


def event_time_findings(table: Table, rows: Sequence[TimedRow]) -> Iterator[Finding]:
    """Yield findings about the event times of a sample.

    A row is late if its time is not after the watermark of the earlier rows of its split. The
    watermark of a job is the minimum over the splits, so a job may see fewer late rows.
    """

    def warning(text: str, fix: str) -> Finding:
        return Finding(Severity.WARNING, "event time", table.name, text, table.at, fix)

    nulls = sum(time is None for _, _, time, _ in rows)
    if nulls:
        text = f"{_share(nulls, len(rows))} of {len(rows):,} sampled event times are NULL"
        yield warning(text, "use a computed column with a default value as the event time")
    late, disorder = 0, 0
    newest: dict[int, int] = {}
    for split, of_split in groupby(sorted(rows, key=lambda row: row[:2]), key=lambda row: row[0]):
        mark: int | None = None
        for _, _, time, row_mark in of_split:
            if time is None:
                continue
            late += mark is not None and time <= mark
            latest = newest.get(split, time)
            disorder = max(disorder, latest - time)
            newest[split] = max(latest, time)
            if row_mark is not None:
                mark = row_mark if mark is None else max(mark, row_mark)
    timed = len(rows) - nulls
    shown = f"rows are up to {_duration(disorder)} out of order"
    if late:
        text = f"{_share(late, timed)} of {timed:,} sampled rows are late: {shown}"
        yield warning(text, "increase the delay in WATERMARK")
    yield from _behind(newest, warning)
    if timed and not nulls and not late:
        text = f"none of {timed:,} sampled rows is late: {shown}"
        yield Finding(Severity.OK, "event time", table.name, text, table.at)


def _behind(newest: Mapping[int, int], warning: Callable[[str, str], Finding]) -> Iterator[Finding]:
    """Yield a finding for splits whose event times hold the watermark back."""
    latest = max(newest.values(), default=0)
    behind = [split for split, time in newest.items() if latest - time > _BEHIND / _MICROSECOND]
    if behind:
        gap = _duration(latest - min(newest.values()))
        text = (
            f"the newest event time of partition {', '.join(map(str, sorted(behind)))} is up to"
            f" {gap} older than that of another partition, and holds the watermark back"
        )
        yield warning(text, f"SET '{IDLE_TIMEOUT.key}', or correct the producer")


def key_findings(
    table: Table, operator: str, key: Key, rows: Sequence[tuple[object, ...]]
) -> Iterator[Finding]:
    """Yield findings about the keys by which an operator partitions its state.

    Args:
        table: the table that the operator reads.
        operator: the title of the operator.
        key: names of the key fields.
        rows: the key of each sampled row.
    """
    if len(rows) < _ENOUGH:
        return
    counts = Counter(map(str, rows))
    names = ", ".join(key)
    value, most = counts.most_common(1)[0]
    if most / len(rows) > _HOT and len(counts) > 1:
        text = (
            f"{_share(most, len(rows))} of {len(rows):,} sampled rows have the same ({names}),"
            f" {value}: one task of {operator} processes all of them"
        )
        fix = "aggregate in two levels, or exclude the key if it is a default value"
        yield Finding(Severity.WARNING, "hot key", table.name, text, table.at, fix)
    text = f"{len(rows):,} sampled rows have {len(counts):,} different ({names}) in {operator}"
    yield Finding(Severity.OK, "state", table.name, text, table.at)


def _duration(micros: int) -> str:
    """Return a duration, rounded up to seconds, or to milliseconds below one second."""
    span = micros * _MICROSECOND
    unit = timedelta(seconds=1) if span >= timedelta(seconds=1) else timedelta(milliseconds=1)
    return format_duration(-(-span // unit) * unit)


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}"
