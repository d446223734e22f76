"""Lock of a checkpoint: of the operating system for a local directory, else a lease."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TextIO

from streamtable.core.checkpoint_path import CheckpointPath
from streamtable.core.errors import Condition, StreamtableError
from streamtable.runtime.checkpoint.storage.local_folder import local_folder
from streamtable.runtime.checkpoint.storage.remote import RemoteCheckpoints, is_remote
from streamtable.runtime.status.lock import holder_of, take_lock


class Lock(Protocol):
    """The right of one process to write a checkpoint."""

    def check(self) -> None:
        """Raise CHECKPOINT_LOST if the process no longer has the right."""
        ...

    def close(self) -> None:
        """Release the lock."""
        ...


@dataclass(frozen=True)
class _FileLock:
    """A lock of the operating system, which ends with this process and not earlier."""

    file: TextIO

    def check(self) -> None:
        pass

    def close(self) -> None:
        self.file.close()


@contextmanager
def locked(directory: str, remote: RemoteCheckpoints | None) -> Iterator[CheckpointPath]:
    """Hold the lock of an existing checkpoint.

    Raises:
        StreamtableError: CHECKPOINT_BUSY, CHECKPOINT_HELD or CHECKPOINT_UNREADABLE.
    """
    path, lock = taken(directory, remote)
    try:
        yield path
    finally:
        lock.close()


def checkpoint_folder(directory: str, remote: RemoteCheckpoints | None) -> CheckpointPath:
    """Return the folder of a checkpoint, without its lock.

    Raises:
        StreamtableError: CHECKPOINT_UNREADABLE; NOT_YET or INVALID_OPTION for an unknown path.
    """
    if remote is not None and is_remote(directory):
        return remote.folder(directory)
    return local_folder(directory, "a checkpoint")


def taken(directory: str, remote: RemoteCheckpoints | None) -> tuple[CheckpointPath, Lock]:
    """Lock a checkpoint; create its directory if it is missing."""
    if remote is not None and is_remote(directory):
        return remote.take(directory)
    path = local_folder(directory, "a checkpoint")
    return path, _FileLock(_locked(path, directory))


def _locked(path: Path, directory: str) -> TextIO:
    """Create the directory if it is missing, and lock it."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        lock = take_lock(path)
    except OSError as error:
        raise StreamtableError(
            Condition.CHECKPOINT_UNREADABLE, checkpoint=directory, reason=error.strerror
        ) from error
    if lock is None:
        raise StreamtableError(
            Condition.CHECKPOINT_BUSY,
            checkpoint=directory,
            pid=holder_of(path) or "unknown",
            hint="stop that job first, or use another --checkpoint",
        )
    return lock
