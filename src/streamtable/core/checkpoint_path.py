"""`CheckpointPath`: a file or folder of a checkpoint, on a local disk or in another file system."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol, Self

#: Name of the file with the plan of each query, which makes a folder a checkpoint.
MANIFEST = "streamtable.json"


class CheckpointPath(Protocol):
    """The part of `pathlib.Path` that a checkpoint needs; `str()` returns what Spark understands.

    A local checkpoint uses `Path` itself. `jvm.remote_path.RemotePath` uses a file system of
    Hadoop. The methods raise `OSError` as those of `Path` do.
    """

    @property
    def name(self) -> str:
        """The last part of the path."""
        ...

    @property
    def parent(self) -> Self:
        """The folder of the path."""
        ...

    def __truediv__(self, name: str, /) -> Self:
        """Return a path in this folder."""
        ...

    def exists(self) -> bool:
        """Whether there is a file or folder."""
        ...

    def is_dir(self) -> bool:
        """Whether there is a folder."""
        ...

    def iterdir(self) -> Iterator[Self]:
        """List the files and folders of this folder."""
        ...

    def mkdir(self, *, exist_ok: bool) -> None:
        """Create the folder."""
        ...

    def read_text(self, encoding: str) -> str:
        """Return the content of the file."""
        ...

    def read_bytes(self) -> bytes:
        """Return the content of the file."""
        ...

    def write_text(self, data: str, encoding: str) -> object:
        """Write the file. `write_whole` of a checkpoint's `storage` writes atomically."""
        ...

    def unlink(self, missing_ok: bool = False) -> None:
        """Delete the file."""
        ...


def numbered(folder: CheckpointPath) -> list[int]:
    """Return the numbers that are names in a folder, such as the batches in one of Spark's logs."""
    try:
        names = [file.name for file in folder.iterdir()]
    except FileNotFoundError:
        return []
    return [int(name) for name in names if name.isdigit()]
