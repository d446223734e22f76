"""Which fields of a node are time attributes or bounds of a window, as Flink's rules have it.

A time attribute stays one where a column passes through unchanged; an expression, a regular join,
an aggregation or a ranking over all time make an ordinary timestamp of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from streamtable.plan.deduplicate_node import Deduplicate
from streamtable.plan.expand_node import Expand
from streamtable.plan.nodes import Calc, GroupAggregate, Key, Node, UnionAll
from streamtable.plan.over_node import OverAggregate
from streamtable.plan.stateful_nodes import TopN
from streamtable.plan.time_nodes import (
    WAITING,
    WatermarkAssigner,
    Window,
    WindowAggregate,
    WindowKind,
    WindowTable,
    WindowTopN,
)


class Role(Enum):
    """What a field tells of its row's window."""

    START = "start"
    END = "end"
    LAST = "last"


@dataclass(frozen=True)
class WindowField:
    """A field that holds a bound of a window."""

    role: Role
    window: Window


@dataclass(frozen=True)
class GroupedWindow:
    """A window that rows are grouped by: the window and the names of its bounds."""

    window: Window
    start: str
    end: str


def is_event_time(node: Node, name: str) -> bool:
    """Whether a field is an event time, of which the watermark says how far it has come."""
    match node:
        case WatermarkAssigner():
            return name == node.column
        case WindowTable():
            return name == node.last or (name != node.time and _passes(node.input, name))
        case Calc():
            found = next((p.source for p in node.projections if p.field.name == name), None)
            return found is not None and is_event_time(node.input, found)
        case Expand() | OverAggregate() | Deduplicate():
            return _passes(node.input, name)
        case UnionAll():
            return all(is_event_time(child, name) for child in node.inputs)
        case _:
            field = window_field(node, name)
            return field is not None and field.role is Role.LAST


def _passes(node: Node, name: str) -> bool:
    return any(f.name == name for f in node.fields) and is_event_time(node, name)


def window_field(node: Node, name: str) -> WindowField | None:
    """The bound of a window that a field holds, unchanged since its table function."""
    match node:
        case WindowTable():
            own = {node.start: Role.START, node.end: Role.END, node.last: Role.LAST}
            if name in own:
                return WindowField(own[name], node.window)
            return None
        case Calc():
            found = next((p.source for p in node.projections if p.field.name == name), None)
            return window_field(node.input, found) if found else None
        case GroupAggregate():
            grouped = name in node.keys and grouped_window(node.input, node.keys) is not None
            return window_field(node.input, name) if grouped else None
        case WindowAggregate():
            return window_field(node.input, name) if name in node.keys else None
        case TopN():
            known = any(f.name == name for f in node.input.fields)
            grouped = known and grouped_window(node.input, node.partition) is not None
            return window_field(node.input, name) if grouped else None
        case WatermarkAssigner() | WindowTopN() | Expand() | OverAggregate() | Deduplicate():
            known = any(f.name == name for f in node.input.fields)
            return window_field(node.input, name) if known else None
        case _:
            return None


def grouped_window(node: Node, keys: Key) -> GroupedWindow | None:
    """The window whose start and end are both among the keys; None where there is none."""
    bounds: dict[Window, dict[Role, str]] = {}
    for key in keys:
        field = window_field(node, key)
        if field is not None:
            bounds.setdefault(field.window, {}).setdefault(field.role, key)
    for window, names in bounds.items():
        if Role.START in names and Role.END in names:
            return GroupedWindow(window, names[Role.START], names[Role.END])
    return None


def is_complete(node: Node) -> bool:
    """Whether rows come when the watermark has passed their window, so that none is late."""
    if isinstance(node, WindowAggregate | WindowTopN | OverAggregate | Deduplicate):
        return True
    if isinstance(node, WatermarkAssigner):
        return False
    return bool(node.inputs) and all(is_complete(child) for child in node.inputs)


def waits(node: Node) -> bool:
    """Whether an operator of a finished plan waits for a watermark; idle ones are taken out."""
    if isinstance(node, WatermarkAssigner):
        return True
    return bool(processing_windows(node)) or any(map(waits, node.inputs))


def processing_windows(node: Node) -> tuple[Window, ...]:
    """The windows of processing time that some operator of a tree waits for."""
    own = (node.window,) if isinstance(node, WAITING) and node.window.processing else ()
    return (*own, *(window for child in node.inputs for window in processing_windows(child)))


def session_below(node: WindowAggregate) -> WindowTable | None:
    """The table function whose sessions an aggregation merges; None where windows stand fast."""
    below: Node = node.input
    while isinstance(below, Calc):
        below = below.input
    merges = isinstance(below, WindowTable) and below.window.kind is WindowKind.SESSION
    return below if merges and isinstance(below, WindowTable) else None
