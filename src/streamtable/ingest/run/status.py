"""The progress of a job's reader, sent to the driver in a file."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

from streamtable.connectors.mysql_cdc.reader import Offset


@dataclass(frozen=True)
class ReaderStatus:
    """The reader's progress when it plans a batch.

    Attributes:
        position: the binlog position up to which all changes are written.
        pending: names of tables with an incomplete snapshot.
        chunks: the number of snapshot chunks written since the start of this run.
        behind: bytes of binlog that are not written yet.
        lag: the age of the newest moment whose changes are all written, in seconds; -1 if there was
            none in this run.
        ended: whether nothing is left to read, now or later.
        idle: whether there was nothing to read.
        notices: lines for the user, of this run.
    """

    position: str = ""
    pending: list[list[str]] = field(default_factory=list)
    chunks: int = 0
    behind: int = 0
    lag: float = -1.0
    ended: bool = False
    idle: bool = False
    notices: list[str] = field(default_factory=list)


class Lag:
    """Bounds how far the written position is behind the server.

    A batch that ends at the end of the binlog contains all changes from before it was planned. Once
    the next batch starts there, these changes are written.
    """

    def __init__(self) -> None:
        self._level_at: float | None = None
        self._planned: tuple[Offset, float] | None = None

    def plan(self, begin: Offset, end: Offset, at: float, *, to_the_end: bool) -> None:
        """Record a planned batch.

        Args:
            begin: the offset up to which all changes are written.
            end: the end of the batch; `begin` if there is nothing to read.
            at: the time just before the server was asked for its end.
            to_the_end: whether the batch ends at the server's end.
        """
        if self._planned is not None and self._planned[0] == begin:
            self._level_at = self._planned[1]
        if begin == end:
            self._level_at = at
        self._planned = (end, at) if to_the_end else None

    def seconds(self, now: float) -> float:
        """Return the value of `ReaderStatus.lag`."""
        return -1.0 if self._level_at is None else now - self._level_at


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
