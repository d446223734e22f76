"""Window bounds in the fields of a node, by Flink's rules.

A field stays a window bound if operators pass it on unchanged. An expression, a regular join, a
regular aggregation or a regular ranking turns it into an ordinary timestamp.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum

from streamtable.plan.node import Key, Node
from streamtable.plan.window.window import Window


class Role(Enum):
    """Role of a field as a bound of its row's window."""

    START = "start"
    END = "end"
    LAST = "last"


@dataclass(frozen=True)
class WindowField:
    """A field that contains a window bound."""

    role: Role
    window: Window

    @property
    def is_time(self) -> bool:
        """Whether the field is the window's last millisecond, which is an event time."""
        return self.role is Role.LAST


@dataclass(frozen=True)
class JoinedWindow:
    """A window of both inputs of a join, and the names of the end fields."""

    window: Window
    left_end: str
    right_end: str


@dataclass(frozen=True)
class GroupedWindow:
    """A window in the grouping fields, and the names of its bounds."""

    window: Window
    start: str
    end: str


def grouped_window(node: Node, keys: Key) -> GroupedWindow | None:
    """Return the window whose start and end are both among the keys; None if there is none."""
    bounds: dict[Window, dict[Role, str]] = {}
    for key in keys:
        field = node.window_field(key)
        if field is not None:
            bounds.setdefault(field.window, {}).setdefault(field.role, key)
    for window, names in bounds.items():
        if Role.START in names and Role.END in names:
            return GroupedWindow(window, names[Role.START], names[Role.END])
    return None


def joined_window(left: Node, right: Node, keys: Iterable[tuple[str, str]]) -> JoinedWindow | None:
    """Return the window whose start and end must be equal on both sides; None if there is none.

    Source of the rule: Flink's *Window JOIN* page. Both inputs must have the same windowing
    function.
    """
    ends: dict[Window, dict[Role, tuple[str, str]]] = {}
    for ours, theirs in keys:
        one, other = left.window_field(ours), right.window_field(theirs)
        if one is None or other is None or one.role is not other.role:
            continue
        # The partition fields of sessions have different names on each side.
        window = replace(one.window, partition=())
        if window == replace(other.window, partition=()):
            ends.setdefault(window, {})[one.role] = (ours, theirs)
    for window, found in ends.items():
        if Role.START in found and Role.END in found:
            return JoinedWindow(window, *found[Role.END])
    return None
