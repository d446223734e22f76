"""Numbers derived from a status document: lag, slowest operator, the partition that holds back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

Values = Mapping[str, Any]


@dataclass(frozen=True)
class OperatorView:
    """One stateful operator of a query.

    Attributes:
        name: the operator's name in EXPLAIN, or Spark's if the two cannot be matched.
        rows: rows of its state; None if they are not counted.
        bytes: size of its state.
        milliseconds: time of its tasks in the last micro-batch; None if it is not measured.
    """

    name: str
    rows: int | None
    bytes: int
    milliseconds: int | None


def operators_of(query: Values, titles: Iterable[str]) -> list[OperatorView]:
    """Return the stateful operators of a query, from the sink down.

    Args:
        query: metrics of the query.
        titles: names of the stateful operators in the plan, from the sink down.
    """
    found, names = query["operators"], list(titles)
    matched = len(names) == len(found)
    return [
        OperatorView(
            names[i] if matched else each["name"],
            each["stateRows"],
            each["stateBytes"],
            each.get("stateTime"),
        )
        for i, each in enumerate(found)
    ]


def slowest(operators: Iterable[OperatorView]) -> OperatorView | None:
    """Return the operator with the longest time; None if no time is measured."""
    timed = [each for each in operators if each.milliseconds]
    return max(timed, key=lambda each: each.milliseconds or 0, default=None)


def lag_of(tables: Mapping[str, Values], names: Iterable[str]) -> int | None:
    """Return the unread records of the named tables; None if one of them is not known."""
    total = 0
    for name in names:
        pending = tables.get(name, {}).get("pendingRecords")
        if pending is None:
            return None
        total += pending
    return total


def holds_back(query: Values) -> str | None:
    """Return the partition with the lowest watermark, as "topic-partition".

    Returns None without partitions, or if all have the same watermark.
    """
    marks: Mapping[str, int] = query["partitionWatermark"]
    if len(set(marks.values())) < min(2, len(marks)) or len(marks) < 2:
        return None
    return min(marks, key=lambda name: marks[name])


def iso(milliseconds: int) -> str:
    """Return an epoch time in milliseconds as ISO 8601 in UTC."""
    try:
        moment = datetime.fromtimestamp(milliseconds / 1_000, UTC)
    except (ValueError, OverflowError, OSError):
        return "end of input"
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{milliseconds % 1_000:03}Z"
