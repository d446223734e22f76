"""Which fields of a node are time attributes or bounds of a window, as Flink's rules have it.

A time attribute stays one where a column passes through unchanged; an expression, a regular join,
an aggregation or a ranking over all time make an ordinary timestamp of it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import TypeGuard

from streamtable.plan.arrival_nodes import ArrivalDeduplicate, ArrivalOver
from streamtable.plan.deduplicate_node import Deduplicate
from streamtable.plan.expand_node import Expand
from streamtable.plan.lookup_node import LookupJoin
from streamtable.plan.nodes import Calc, GroupAggregate, Node, UnionAll
from streamtable.plan.over_node import OverAggregate
from streamtable.plan.source_nodes import Key
from streamtable.plan.stateful_nodes import Join, TopN
from streamtable.plan.time_joins import WindowJoin
from streamtable.plan.time_nodes import (
    SessionTable,
    TimeOperator,
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
class JoinedWindow:
    """A window that both inputs of a join share: the window and the names of its end."""

    window: Window
    left_end: str
    right_end: str


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
        case Expand() | OverAggregate() | Deduplicate() | ArrivalOver() | LookupJoin():
            return _passes(node.input, name)
        case ArrivalDeduplicate():
            return not node.last and _passes(node.input, name)
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
        case Join():
            return _of_join(node, name) if joined_window(node) else None
        case WindowJoin():
            return _of_join(node, name)
        case (
            WatermarkAssigner()
            | WindowTopN()
            | Expand()
            | OverAggregate()
            | Deduplicate()
            | ArrivalOver()
            | LookupJoin()
        ):
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


def _of_join(node: Join | WindowJoin, name: str) -> WindowField | None:
    """The bound of a window that a field of a window join holds in every row."""
    for child, padded in ((node.left, node.kind.pads_left), (node.right, node.kind.pads_right)):
        if any(f.name == name for f in child.fields):
            return None if padded else window_field(child, name)
    return None


def joined_window(node: Join) -> JoinedWindow | None:
    """The window whose start and end a join asks to be equal on both sides; None for no such.

    Source of the rule: Flink's *Window JOIN* page; both inputs have the same windowing function.
    """
    ends: dict[Window, dict[Role, tuple[str, str]]] = {}
    for left, right in node.keys:
        one, other = window_field(node.left, left), window_field(node.right, right)
        if one is None or other is None or one.role is not other.role:
            continue
        # The fields that tell sessions apart have other names on each side.
        window = replace(one.window, partition=())
        if window == replace(other.window, partition=()):
            ends.setdefault(window, {})[one.role] = (left, right)
    for window, found in ends.items():
        if Role.START in found and Role.END in found:
            return JoinedWindow(window, *found[Role.END])
    return None


def is_complete(node: Node) -> bool:
    """Whether rows come when the watermark has passed their window, so that none is late."""
    if isinstance(node, TimeOperator) and node.fires_windows:
        return True
    if isinstance(node, WatermarkAssigner):
        return False
    return bool(node.inputs) and all(is_complete(child) for child in node.inputs)


def waits(node: Node) -> bool:
    """Whether an operator of a finished plan waits for a watermark; idle ones are taken out."""
    if isinstance(node, WatermarkAssigner):
        return True
    return bool(processing_windows(node)) or any(map(waits, node.inputs))


_FIRING = (WindowAggregate, WindowTopN, WindowJoin, SessionTable)


def by_clock(node: Node) -> TypeGuard[WindowAggregate | WindowTopN | WindowJoin | SessionTable]:
    """Whether a node waits for windows of processing time."""
    return isinstance(node, _FIRING) and node.window.processing


def processing_windows(node: Node) -> tuple[Window, ...]:
    """The windows of processing time that some operator of a tree waits for."""
    own = (node.window,) if by_clock(node) else ()
    return (*own, *(window for child in node.inputs for window in processing_windows(child)))


def session_below(node: WindowAggregate) -> WindowTable | None:
    """The table function whose sessions an aggregation merges; None where windows stand fast."""
    below: Node = node.input
    while isinstance(below, Calc):
        below = below.input
    if not isinstance(below, WindowTable) or isinstance(below, SessionTable):
        return None
    return below if below.window.kind is WindowKind.SESSION else None
