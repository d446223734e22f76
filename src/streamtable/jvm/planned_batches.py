"""Batches without rows, written into Spark's logs of a checkpoint for Spark to run."""

from __future__ import annotations

from enum import Enum

from streamtable.jvm.bridge import Bridge

#: The watermark behind the end: later than any moment that SQL can say, in milliseconds.
END_WATERMARK_MS = 300_000_000_000_000


class Stage(Enum):
    """How far a query has come to its end."""

    OPEN = "OPEN"
    ENDING = "ENDING"
    ENDED = "ENDED"


def stage(bridge: Bridge, directory: str) -> Stage:
    """That of the query whose checkpoint is in a directory; OPEN where there is none yet."""
    planned = bridge.planned_batches
    return Stage(str(planned.stage(bridge.java_session, directory, END_WATERMARK_MS)))


def plan_last_batch(bridge: Bridge, directory: str) -> bool:
    """Writes the last batch down, which Spark then runs; False where no batch has been.

    It has no rows and a watermark above every moment. All batches before must be committed.
    """
    planned = bridge.planned_batches
    return bool(planned.planLast(bridge.java_session, directory, END_WATERMARK_MS))


def plan_empty_batch(bridge: Bridge, directory: str) -> bool:
    """Writes a batch down that a start of the query runs first; False where it runs one anyway.

    Spark does not follow time that moves before a query has had a batch since its start.
    """
    return bool(bridge.planned_batches.planEmpty(bridge.java_session, directory))
