"""`RemotePath`: a path of a checkpoint in a file system of Hadoop, through Spark's JVM."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from streamtable.core.errors import Condition, StreamtableError
from streamtable.jvm.faults import JavaError, first_line

_MISSING = "FileNotFoundException"
_LOST = "CheckpointLostException"
_MARK = "CHECKPOINT_LOST "


class RemotePath:
    """A `CheckpointPath`; `str()` returns the URI.

    Args:
        store: the Java object `RemoteStore`.
        uri: the path with its scheme and host.
    """

    def __init__(self, store: Any, uri: str) -> None:
        self._store = store
        self._uri = uri

    def __str__(self) -> str:
        return self._uri

    def __repr__(self) -> str:
        return f"RemotePath({self._uri!r})"

    def __truediv__(self, name: str, /) -> RemotePath:
        return RemotePath(self._store, f"{self._uri.rstrip('/')}/{name}")

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self._uri.rpartition("/")[2]

    @property
    def parent(self) -> RemotePath:
        """The folder of the path."""
        return RemotePath(self._store, self._uri.rpartition("/")[0])

    def exists(self) -> bool:
        """Whether there is a file or folder."""
        return bool(self._call("exists"))

    def is_dir(self) -> bool:
        """Whether there is a folder."""
        return bool(self._call("isFolder"))

    def iterdir(self) -> Iterator[RemotePath]:
        """List the files and folders of this folder; none if it does not exist."""
        return iter([self / str(name) for name in self._call("list")])

    def mkdir(self, *, exist_ok: bool) -> None:
        """Create the folder, if this process holds the checkpoint."""
        assert exist_ok, "object stores have no folders"  # noqa: S101
        self._call("createFolder")

    def read_text(self, encoding: str) -> str:
        """Return the content of the file."""
        return self.read_bytes().decode(encoding)

    def read_bytes(self) -> bytes:
        """Return the content of the file."""
        return bytes(self._call("read"))

    def write_text(self, data: str, encoding: str) -> None:
        """Write the file as a whole, if this process holds the checkpoint."""
        assert encoding == "utf-8", "as RemoteStore writes"  # noqa: S101
        self._call("write", data)

    def write_beside(self, data: str) -> None:
        """Write a file that no job writes as a whole, whoever holds the checkpoint."""
        self._call("writeBeside", data)

    def holder_watch(self) -> Callable[[], bool]:
        """Return a function that tells whether a process holds the checkpoint, or may hold it.

        Call it again and again: a killed holder is noticed when the period of its lease has passed
        since the first call.
        """
        watch = self._store.watch()

        def is_held() -> bool:
            try:
                return bool(watch.isHeld())
            except JavaError as error:
                raise translated(error, self._uri) from error

        return is_held

    def unlink(self, missing_ok: bool = False) -> None:
        """Delete the file, if this process holds the checkpoint."""
        if not self._call("delete") and not missing_ok:
            raise FileNotFoundError(None, "no such file", self._uri)

    def remove_tree(self) -> None:
        """Delete the folder with all that is in it, if this process holds the checkpoint."""
        self._call("deleteFolder")

    def _call(self, method: str, *arguments: str) -> Any:
        try:
            return getattr(self._store, method)(self._uri, *arguments)
        except JavaError as error:
            raise translated(error, self._uri) from error


def translated(error: JavaError, uri: str) -> OSError | StreamtableError:
    """Return the Python error for an exception of a Java class of checkpoints."""
    fault = error.java_exception
    kind, text = str(fault.getClass().getSimpleName()), first_line(str(fault.getMessage()))
    if kind == _MISSING:
        return FileNotFoundError(None, "no such file", uri)
    if kind == _LOST:
        return lost(text.removeprefix(_MARK))
    return OSError(None, f"{kind}: {text}", uri)


def lost(reason: str) -> StreamtableError:
    """Return the error of a job that no longer holds its checkpoint."""
    return StreamtableError(
        Condition.CHECKPOINT_LOST,
        reason=reason,
        hint="run only one job for each checkpoint; this job has written no further checkpoint",
    )
