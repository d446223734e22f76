"""Window join operator: a join of two inputs in the same windows."""

from __future__ import annotations

from dataclasses import dataclass

from streamtable.core.identity import stable
from streamtable.plan.join.time_joins import TimeJoin
from streamtable.plan.node import Key, Node
from streamtable.plan.state import StateLayout
from streamtable.plan.window.emission import positioned_by_time
from streamtable.plan.window.fields import WindowField
from streamtable.plan.window.window import Window


@stable("WindowJoin", window="window", left_end="left_end", right_end="right_end")
@dataclass(frozen=True)
class WindowJoin(TimeJoin):
    """Join the rows of a window, once, when the watermark passes its end.

    The keys include both ends and both starts of the window.

    Attributes:
        window: the window of both inputs.
        left_end: left field with the end of the window.
        right_end: right field with the end of the window.
    """

    title = "WindowJoin"
    unites_inputs = True
    state = StateLayout("WindowJoin", 1, ("WindowJoinProcessor",), frozenset({"left", "right"}))
    fires_windows = True
    emits_by_time = emits_apart = True

    window: Window
    left_end: str
    right_end: str

    @property
    def clock_window(self) -> Window | None:
        """The window of the join."""
        return self.window if self.window.processing else None

    def row_keys(self, *, ordered: bool) -> tuple[Key, ...]:
        """Return all unique keys: rows are only inserted, so every key is ordered."""
        del ordered
        return self.unique()

    def positioned(self) -> Node:
        """Return the operator with positions by the window's end."""
        right = () if self.kind.left_only else (self.right_end,)
        return positioned_by_time(self, self.left_end, *right)

    def window_field(self, name: str) -> WindowField | None:
        """Return the window bound of an input field."""
        return self.side_window(name)

    @property
    def headline(self) -> str:
        """Shows join type, window and equalities."""
        name = self.kind.value.replace("Join", "WindowJoin")
        return f"{name} {self.window.described} on {self.equal_where}"
