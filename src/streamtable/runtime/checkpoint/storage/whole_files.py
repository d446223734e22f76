"""Files of a checkpoint that are written as a whole: readers see the old or the new content."""

from __future__ import annotations

import os
from pathlib import Path

from streamtable.core.checkpoint_path import CheckpointPath
from streamtable.core.errors import Condition, StreamtableError


def write_whole(target: CheckpointPath, text: str, draft: CheckpointPath | None = None) -> None:
    """Write a file atomically: it has the old or the new content, also after a power failure.

    Args:
        target: the file.
        text: its new content.
        draft: name of a local file's new content until it is complete; None for a name beside the
            target.
    """
    if not isinstance(target, Path):
        target.write_text(text, encoding="utf-8")  # atomic in other file systems
        return
    draft = draft if isinstance(draft, Path) else target.with_suffix(".tmp")
    with draft.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(target)
    folder = os.open(target.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def write_file(target: CheckpointPath, text: str) -> None:
    """Write a file of a checkpoint atomically: readers see the old or the new text as a whole.

    Raises:
        StreamtableError: CHECKPOINT_UNREADABLE if the file cannot be written because the disk is
            full or missing.
    """
    try:
        write_whole(target, text)
    except OSError as error:
        raise StreamtableError(
            Condition.CHECKPOINT_UNREADABLE, checkpoint=target.parent, reason=error.strerror
        ) from error
