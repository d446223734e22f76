"""The first difference between a query in a checkpoint and a query of now, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streamtable.plan.rules.shape import stable_sql
from streamtable.runtime.checkpoint.manifest.shapes import first_difference, operators

if TYPE_CHECKING:
    from streamtable.runtime.checkpoint.manifest.recorded_query import RecordedQuery


def first_change(before: RecordedQuery, now: RecordedQuery) -> str:
    """Describe the first difference between the plans of two queries, whose hashes differ."""
    place = first_difference(before.shape, now.shape) if before.shape else None
    where = "" if place is None else f" (first difference: {place.operator})"
    old, new = _lines(before, now, None if place is None else place.number)
    if old and new and old != new:
        return f"'{old}' and is now '{new}'{where}"
    return f"different in structure, or in a column or format of its tables{where}"


def _lines(before: RecordedQuery, now: RecordedQuery, number: int | None) -> tuple[str, str]:
    """Return the plan lines of the first operator that differs; empty if there are none.

    `number` is the operator's place, from the top; None if only the lines are known.
    """
    if number is not None and all(
        len(query.plan) == len(operators(query.shape)) for query in (before, now)
    ):
        return before.plan[number].strip(), now.plan[number].strip()
    for line, new in zip(before.plan, now.plan, strict=False):
        # Older checkpoints have other words for the row kinds.
        old = line.replace("  makes ", "  emits ").replace("  takes ", "  accepts ")
        if stable_sql(old) != stable_sql(new):
            return old.strip(), new.strip()
    return "", ""
