"""Repartition the state in a query's checkpoint, with Spark's offline state repartitioning."""

from __future__ import annotations

from typing import Any

from streamtable.core.errors import Condition, StreamtableError
from streamtable.jvm.bridge import Bridge
from streamtable.jvm.faults import JavaError, first_line


def repartition(bridge: Bridge, directory: str, partitions: int) -> None:
    """Add a batch without rows to a query's checkpoint, whose state has another partitioning.

    If an earlier call with the same number was interrupted, this call repeats its batch.

    Args:
        bridge: the JVM side.
        directory: the directory of the query's checkpoint; the query must not run.
        partitions: the new number of partitions.

    Raises:
        StreamtableError: CHECKPOINT_NOT_RESCALED with Spark's reason.
    """
    session: Any = bridge.java_session
    try:
        # Sinks know the batches that they have written by their numbers: skip no planned batch.
        session.streamingCheckpointManager().repartition(directory, partitions, True)
    except JavaError as error:
        raise StreamtableError(
            Condition.CHECKPOINT_NOT_RESCALED,
            checkpoint=directory,
            reason=first_line(str(error.java_exception.getMessage())),
            hint="the checkpoint keeps its earlier state; run the command again to go on",
        ) from error
