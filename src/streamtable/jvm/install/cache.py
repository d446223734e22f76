"""The cache folder of fetched and compiled files, with a lock for writers."""

from __future__ import annotations

import fcntl
import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from streamtable.core.errors import Condition, StreamtableError

if TYPE_CHECKING:
    from collections.abc import Iterator


def cache_dir() -> Path:
    """Return `STREAMTABLE_CACHE`, or `~/.cache/streamtable`; do not create it."""
    given = os.environ.get("STREAMTABLE_CACHE")
    return Path(given).expanduser().absolute() if given else Path.home() / ".cache" / "streamtable"


@contextmanager
def locked(lock_file: Path) -> Iterator[None]:
    """Hold the lock of `lock_file`; wait while another process holds it.

    The kernel releases the lock when its process ends, so a crash leaves nothing to clean up.

    Raises:
        StreamtableError: FILE_UNREADABLE if the folder cannot be written.
    """
    try:
        lock_file.parent.mkdir(parents=True, exist_ok=True)
        handle = lock_file.open("w")
    except OSError as error:
        raise StreamtableError(
            Condition.FILE_UNREADABLE,
            hint="set STREAMTABLE_CACHE to a folder that can be written",
            path=lock_file.parent,
            reason=error.strerror,
        ) from error
    with handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
