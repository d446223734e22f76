"""Differences of temporal joins from Flink's recorded answers, with their reasons."""

from __future__ import annotations

#: The differences.
NOTES = (
    (
        "an update or delete of a left row whose version has been replaced: what was emitted is"
        " retracted, and an update with the same event time gets the same version; Flink joins the"
        " retracted row anew with the versions that it still has, retracts another row or none, and"
        " the old row stays"
    ),
    (
        "a late left row below another operator that waits for its event time: it is dropped and"
        " counted; Flink's window still counts it, if the window is open"
    ),
)
