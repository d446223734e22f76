"""Detection of checkpoint files that a power failure has left without content.

The files of streamtable are on the disk before they get their names
(`io.streamtable.query.DurableFiles`). Earlier versions, other classes that write checkpoints, and
disks that acknowledge writes too early can leave torn files: empty files, or files of zero bytes.
"""

from __future__ import annotations

from collections.abc import Callable

from streamtable.core.checkpoint_path import CheckpointPath, numbered
from streamtable.core.errors import Condition, StreamtableError

_REBUILD = "start the job with a new --checkpoint directory; it rebuilds its state from the topics"


def check_whole(query: CheckpointPath, notice: Callable[[str], None], stale_keys: str = "") -> None:
    """Check the newest files of a query's logs, which the next start of the query needs.

    An empty commit file is deleted; its batch then runs again unchanged.

    Args:
        query: checkpoint directory of the query.
        notice: takes one line for the user.
        stale_keys: end of a hint that proposes a new directory; see `stale_keys_hint`.

    Raises:
        StreamtableError: CHECKPOINT_UNREADABLE if the query cannot recover by itself.
    """
    rebuild = _REBUILD + stale_keys
    metadata = query / "metadata"
    if metadata.exists() and is_torn(metadata):
        raise _torn(metadata, rebuild)
    planned, committed = _newest(query / "offsets"), _newest(query / "commits")
    if planned is not None and is_torn(planned):
        if committed is not None and int(committed.name) >= int(planned.name):
            raise _torn(planned, rebuild)
        hint = (
            f"{rebuild}; or delete the file: batch {planned.name} is planned again; if it had"
            " begun, sinks may keep rows of it, and exactly-once sinks may miss some"
        )
        raise _torn(planned, hint)
    if committed is not None and is_torn(committed):
        if planned is None or int(planned.name) > int(committed.name):
            raise _torn(committed, rebuild)
        committed.unlink()
        notice(
            f"'{committed}' was empty, probably after a loss of power: batch {committed.name}"
            " runs again"
        )


def is_torn(file: CheckpointPath) -> bool:
    """Whether a file is empty or contains only zero bytes."""
    return not file.read_bytes().strip(b"\0")


def _newest(log: CheckpointPath) -> CheckpointPath | None:
    """Return the file of the newest batch in one of Spark's logs."""
    newest = max(numbered(log), default=None)
    return None if newest is None else log / str(newest)


def _torn(file: CheckpointPath, hint: str) -> StreamtableError:
    return StreamtableError(
        Condition.CHECKPOINT_UNREADABLE,
        checkpoint=file.parent,
        reason=f"'{file}' is empty, probably after a loss of power",
        hint=hint,
    )
