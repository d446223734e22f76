"""Plan batches without rows: write them to Spark's logs in a checkpoint, for Spark to run."""

from __future__ import annotations

from enum import Enum

from streamtable.core.checkpoint_path import CheckpointPath, numbered
from streamtable.jvm.bridge import Bridge

#: The final watermark: later than any time in SQL, in milliseconds.
END_WATERMARK_MS = 300_000_000_000_000


class Stage(Enum):
    """The progress of a query towards its end."""

    OPEN = "OPEN"
    ENDING = "ENDING"
    ENDED = "ENDED"


def stage(bridge: Bridge, directory: CheckpointPath) -> Stage:
    """Return the stage of the query with a checkpoint directory; OPEN without a checkpoint."""
    if not _has_batches(directory):
        return Stage.OPEN
    planned = bridge.java.query.PlannedBatches
    return Stage(str(planned.stage(bridge.java_session, str(directory), END_WATERMARK_MS)))


def plan_last_batch(bridge: Bridge, directory: CheckpointPath) -> bool:
    """Write the last batch to the log, for Spark to run.

    The last batch has no rows and a watermark above every time. All earlier batches must be
    committed.

    Returns:
        False if the query has had no batch, or has had its last batch (`expect_last_batch`).
    """
    if not _has_batches(directory) or stage(bridge, directory) is Stage.ENDED:
        return False
    planned = bridge.java.query.PlannedBatches
    return bool(planned.planLast(bridge.java_session, str(directory), END_WATERMARK_MS))


def expect_last_batch(bridge: Bridge, directory: CheckpointPath) -> None:
    """Let the next run of a query, which ends at the available input, end with the last batch.

    The run needs no empty batch and no second run for it. If the run cannot know that it has read
    everything, it ends without the last batch, and `plan_last_batch` plans it.
    """
    ends = bridge.java.query.EndOfInput
    ends.expect(bridge.java_session, str(directory), END_WATERMARK_MS)


def expect_no_last_batch(bridge: Bridge, directory: CheckpointPath) -> None:
    """Let the next runs of a query continue to read; the query does not run now."""
    bridge.java.query.EndOfInput.forget(str(directory))


def plan_empty_batch(bridge: Bridge, directory: CheckpointPath) -> bool:
    """Write a batch that the next start runs first; False if the start runs a batch anyway.

    Spark ignores advances of time until a query has run a batch after its start.
    """
    if not _has_batches(directory):
        return False
    return bool(bridge.java.query.PlannedBatches.planEmpty(bridge.java_session, str(directory)))


def _has_batches(directory: CheckpointPath) -> bool:
    """Whether a query has planned a batch. Spark creates the folder of a log that it opens.

    A folder of a query without a manifest beside it would make a new checkpoint unreadable.
    """
    return newest_batch(directory / "offsets") >= 0


def newest_batch(folder: CheckpointPath) -> int:
    """Return the greatest batch number in one of Spark's logs; -1 if the log is empty."""
    return max(numbered(folder), default=-1)
