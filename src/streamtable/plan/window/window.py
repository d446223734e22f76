"""Time windows."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from streamtable.core.identity import stable, stable_members
from streamtable.plan.node import Key


@stable_members(TUMBLE="TUMBLE", HOP="HOP", CUMULATE="CUMULATE", SESSION="SESSION")
class WindowKind(Enum):
    """Flink's windowing table functions."""

    TUMBLE = "TUMBLE"
    HOP = "HOP"
    CUMULATE = "CUMULATE"
    SESSION = "SESSION"


_STEPS = {WindowKind.HOP: "slide", WindowKind.CUMULATE: "step"}


@stable(
    "Window",
    kind="kind",
    size="size",
    step="step",
    offset="offset",
    local="local",
    partition="partition",
    processing="processing",
)
@dataclass(frozen=True)
class Window:
    """A time window function; lengths in milliseconds.

    Attributes:
        size: length of a window; for CUMULATE the maximum length, for SESSION the gap.
        step: distance between window starts (HOP) or ends (CUMULATE); otherwise the size. If it is
            above the size of HOP, the rows between two windows are in no window.
        offset: offset of the window starts.
        local: whether the event time is an instant, so that windows are aligned to the session's
            time zone.
        partition: partition fields of the sessions.
        processing: whether rows are assigned by processing time, whose clock fires the window.
    """

    kind: WindowKind
    size: int
    step: int
    offset: int = 0
    local: bool = False
    partition: Key = ()
    processing: bool = False

    @property
    def described(self) -> str:
        """The window, formatted for EXPLAIN."""
        session = self.kind is WindowKind.SESSION
        parts = [f"{'gap' if session else 'size'} {self.size} ms"]
        if self.kind in _STEPS:
            parts.append(f"{_STEPS[self.kind]} {self.step} ms")
        if self.offset:
            parts.append(f"offset {self.offset} ms")
        return f"{self.kind.value}({', '.join(parts)})"
