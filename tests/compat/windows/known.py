"""Differences of windows from Flink 2.2.0, and the reasons.

Our rows are computed by hand from the rows of `queries`, so that these answers are tested, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from tests.compat.windows.queries import (
    AGGREGATED_TWICE,
    DAYS_MOVED,
    IN_ORDER,
    MERGED_MOVED,
    MOVED,
)

_DAY = datetime(2026, 3, 1)
Row = tuple[Any, ...]


@dataclass(frozen=True)
class Difference:
    """Rows that only streamtable returns, and rows that only Flink returns.

    A row begins with a window's start and end: seconds of the first of March, or texts.
    """

    reason: str
    ours: tuple[Row, ...]
    flinks: tuple[Row, ...] = ()


def rows(given: tuple[Row, ...]) -> list[list[Any]]:
    """Return rows as inserts, in the form of the recorded answers."""
    return [["+I", *map(_moment, row[:2]), *row[2:]] for row in given]


def _moment(value: float | str) -> str:
    if isinstance(value, str):
        return value
    return (_DAY + timedelta(seconds=value)).isoformat(sep=" ")


_FLUSHED = (
    "Windows with an offset: here they hold all their rows. Flink flushes its buffer where windows"
    " without the offset would end, and loses what belongs to a window that has fired by then"
)
_NO_MERGE = (
    "FIRST_VALUE and LAST_VALUE over HOP and SESSION: Flink refuses them, because its functions"
    " cannot merge"
)

DIFFERENCES: dict[str, Difference] = {
    AGGREGATED_TWICE: Difference(
        "Windows right over the rows of windows, aggregated: Flink's planner fails, where it takes"
        " them for a ranking or as they are",
        ours=((0, 20, 11, 142, 6, 1, 100, 12), (20, 40, 4, 25, 4, 2, 9, 6)),
    ),
    MOVED[0]: Difference(
        _FLUSHED, ours=((-7, 3, 1, 1, 5, 1, 5, 5, 5), (-7, 3, None, 1, 4, 1, 4, 4, 4))
    ),
    MOVED[1]: Difference(
        _FLUSHED,
        ours=(
            (-4, 6, 1, 2, 8, 2, 3, 5, 4),
            (-4, 6, 2, 2, 14, 1, 7, 7, 7),
            (-4, 6, None, 1, 4, 1, 4, 4, 4),
            (16, 26, None, 1, 6, 1, 6, 6, 6),
        ),
    ),
    MOVED[2]: Difference(
        _FLUSHED, ours=((1, 11, 2, 3, 15, 2, 1, 7, 5),), flinks=((1, 11, 2, 2, 14, 1, 7, 7, 7),)
    ),
    MOVED[3]: Difference(_FLUSHED, ours=((-18, 2, 1, 1, 5, 1, 5, 5, 5),)),
    MERGED_MOVED[0]: Difference(
        _FLUSHED,
        ours=((1, 11, 2, 3, 3, 15, 1, 7, 5, 2, 14),),
        flinks=((1, 11, 2, 2, 2, 14, 7, 7, 7, 0, 14),),
    ),
    MERGED_MOVED[1]: Difference(_FLUSHED, ours=((-18, 2, 1, 1, 1, 5, 5, 5, 5, 0, 5),)),
    DAYS_MOVED: Difference(
        _FLUSHED,
        ours=(
            ("2026-03-07 03:00:00", "2026-03-08 03:00:00", 3),
            ("2026-10-31 03:00:00", "2026-11-01 03:00:00", 5),
        ),
        flinks=(("2026-10-31 03:00:00", "2026-11-01 03:00:00", 1),),
    ),
    IN_ORDER[1]: Difference(
        _NO_MERGE,
        ours=(
            (-5, 5, 5, 7, "5,7,3,4,7"),
            (0, 10, 5, 1, "5,7,3,4,7,1"),
            (5, 15, 4, 100, "4,1,3,4,4,100"),
            (10, 20, 4, 4, "4,3,4,4"),
            (15, 25, 6, 6, "6"),
            (20, 30, 9, 6, "9,6"),
            (25, 35, 9, 8, "9,2,8"),
            (30, 40, 2, 8, "2,8"),
        ),
    ),
    IN_ORDER[3]: Difference(
        _NO_MERGE,
        ours=(
            (1, 8.5, 5, 7, "5,7,3,4,7"),
            (8, 17, 4, 100, "4,1,3,4,4,100"),
            (24, 29, 9, 6, "9,6"),
            (31, 37, 2, 8, "2,8"),
        ),
    ),
}
