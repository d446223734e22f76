"""EXPLAIN's lines of the nodes that know event time."""

from __future__ import annotations

from collections.abc import Sequence

from streamtable.plan.arrival_nodes import ArrivalDeduplicate, ArrivalOver
from streamtable.plan.deduplicate_node import Deduplicate
from streamtable.plan.explain_parts import describe_call, sort_key
from streamtable.plan.lookup_node import LookupJoin
from streamtable.plan.nodes import AggregateCall, EventTimeNode
from streamtable.plan.over_node import Frame, OverAggregate, SortedOver
from streamtable.plan.source_nodes import Key
from streamtable.plan.time_joins import IntervalJoin, TemporalJoin, TimeJoin, WindowJoin
from streamtable.plan.time_nodes import (
    SessionTable,
    WatermarkAssigner,
    Window,
    WindowAggregate,
    WindowKind,
    WindowTable,
    WindowTopN,
)


def describe_in_time(
    node: EventTimeNode,
) -> str:
    """What a node does."""
    match node:
        case WatermarkAssigner():
            return f"WatermarkAssigner {node.column}: {node.sql}, least of all partitions"
        case SessionTable():
            by = f" by ({', '.join(node.window.partition)})" if node.window.partition else ""
            return f"SessionTable {_window(node.window)} of {node.time}{by}"
        case WindowTable():
            kind = ", processing time" if node.window.processing else ""
            return f"WindowTable {_window(node.window)} of {node.time}{kind}"
        case WindowAggregate():
            calls = ", ".join(describe_call(call) for call in node.calls)
            by = f"by ({', '.join(node.keys)})"
            return f"WindowAggregate {_window(node.window)} {by}{': ' + calls if calls else ''}"
        case WindowTopN():
            return _window_top_n(node)
        case OverAggregate():
            return _over(node.partition, node.time, node.frame, node.calls)
        case SortedOver():
            told = _over(node.partition, sort_key(node.order), node.frame, node.calls)
            return f"{told}, keeps every row"
        case Deduplicate():
            by = f"by ({', '.join(node.partition)})" if node.partition else "of everything"
            return f"Deduplicate {by}: the first row of {node.time}"
        case ArrivalOver():
            return _over(node.partition, "processing time", node.frame, node.calls)
        case ArrivalDeduplicate():
            by = f"by ({', '.join(node.partition)})" if node.partition else "of everything"
            return f"Deduplicate {by}: the {'last' if node.last else 'first'} row to come"
        case TemporalJoin() | WindowJoin() | IntervalJoin() | LookupJoin():
            return _join(node)


def _join(node: TemporalJoin | WindowJoin | IntervalJoin | LookupJoin) -> str:
    match node:
        case LookupJoin():
            kind = "Left" if node.kind.pads_right else ""
            return f"{kind}LookupJoin{f' on {node.condition}' if node.condition else ''}, broadcast"
        case TemporalJoin():
            kind = "Left" if node.kind.pads_right else ""
            return f"{kind}TemporalJoin on {_equal(node)} as of {node.left_time}"
        case WindowJoin():
            name = node.kind.value.replace("Join", "WindowJoin")
            return f"{name} {_window(node.window)} on {_equal(node)}"
        case IntervalJoin():
            name = node.kind.value.replace("Join", "IntervalJoin")
            between = f"{node.earliest} ms and {node.latest} ms"
            times = f"{node.left_time} - {node.right_time} between {between}"
            return f"{name} on {_equal(node)}, {times}"


def _equal(node: TimeJoin) -> str:
    equal = " AND ".join(f"{left} = {right}" for left, right in node.keys)
    return f"{equal}, where {node.condition}" if node.condition else equal


def _over(partition: Key, order: str, frame: Frame, calls: Sequence[AggregateCall]) -> str:
    by = f"by ({', '.join(partition)})" if partition else "of everything"
    much = "UNBOUNDED" if frame.preceding is None else str(frame.preceding)
    unit = " ms" if frame.peers and frame.preceding is not None else ""
    window = f"{'RANGE' if frame.peers else 'ROWS'} {much}{unit} PRECEDING"
    described = ", ".join(map(describe_call, calls))
    return f"OverAggregate {by} in the order of {order}, {window}: {described}"


def _window_top_n(node: WindowTopN) -> str:
    order = ", ".join(map(sort_key, node.order))
    rank = f" with {node.rank.name}" if node.rank else ""
    rows = f"{node.limit}{f' after {node.skip}' if node.skip else ''} of {order or 'any order'}"
    return f"WindowTopN {_window(node.window)} by ({', '.join(node.partition)}): {rows}{rank}"


def _window(window: Window) -> str:
    steps = {WindowKind.HOP: "slide", WindowKind.CUMULATE: "step"}
    parts = [f"{'gap' if window.kind is WindowKind.SESSION else 'size'} {window.size} ms"]
    if window.kind in steps:
        parts.append(f"{steps[window.kind]} {window.step} ms")
    if window.offset:
        parts.append(f"offset {window.offset} ms")
    return f"{window.kind.value}({', '.join(parts)})"
