"""The progress of a job's reader, sent to the driver in a file."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class ReaderStatus:
    """The reader's progress when it plans a batch.

    Attributes:
        position: the binlog position up to which all changes are written.
        pending: names of tables with an incomplete snapshot.
        chunks: the number of snapshot chunks written since the start of this run.
        behind: bytes of binlog that are not written yet.
        lag: seconds since all changes were written; -1 if this did not happen in this run.
        ended: whether nothing is left to read, now or later.
        idle: whether there was nothing to read.
    """

    position: str = ""
    pending: list[list[str]] = field(default_factory=list)
    chunks: int = 0
    behind: int = 0
    lag: float = -1.0
    ended: bool = False
    idle: bool = False


def write_status(path: str, status: ReaderStatus) -> None:
    """Replace the file atomically."""
    new = Path(f"{path}.new")
    new.write_text(json.dumps(asdict(status)), encoding="utf-8")
    new.replace(path)


def read_status(path: str) -> ReaderStatus | None:
    """Return the reader's last status; None before the first one."""
    try:
        return ReaderStatus(**json.loads(Path(path).read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
