"""The lock of a checkpoint: take it, or find out who holds it.

The kernel releases the lock when its process ends, however it ends.
"""

from __future__ import annotations

import fcntl
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import TextIO

FILE = "lock"

#: Time for which `take_lock` tries again, in seconds: readers hold the lock for a moment.
_RETRY_S = 0.5
_PAUSE_S = 0.01


def take_lock(directory: Path) -> TextIO | None:
    """Lock a checkpoint for this process until the result is closed.

    Returns:
        The open lock file, which has the pid of this process; None if another process holds it.

    Raises:
        OSError: the file cannot be opened.
    """
    file = (directory / FILE).open("a+", encoding="utf-8")
    if not _try_lock(file, fcntl.LOCK_EX):
        file.close()
        return None
    with suppress(OSError):
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
    return file


def _try_lock(file: TextIO, kind: int) -> bool:
    """Take a lock (LOCK_EX) or look at it (LOCK_SH); False if another process holds it."""
    deadline = time.monotonic() + _RETRY_S
    while True:
        try:
            fcntl.flock(file, kind | fcntl.LOCK_NB)
        except OSError:
            if kind == fcntl.LOCK_SH or time.monotonic() > deadline:
                return False
            time.sleep(_PAUSE_S)
        else:
            return True


def holder_of(directory: Path) -> int | None:
    """Return the pid of the process that holds the lock of a checkpoint; None if nobody does.

    The pid is 0 if the holder has not written it yet.
    """
    try:
        with (directory / FILE).open(encoding="utf-8") as file:
            if _try_lock(file, fcntl.LOCK_SH):
                return None
            text = file.read().strip()
            return int(text) if text.isdecimal() else 0
    except OSError:
        return None


def inode_of(directory: Path) -> int:
    """Return the inode of the lock file; 0 if there is none."""
    try:
        return (directory / FILE).stat().st_ino
    except OSError:
        return 0
