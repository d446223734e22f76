"""What event time asks of a plan: operators that wait for windows, watermarks where one waits."""

from __future__ import annotations

from dataclasses import replace

from streamtable.core.errors import Condition, InternalError, StreamtableError
from streamtable.plan.deduplicate_node import Deduplicate
from streamtable.plan.functions import AGGREGATES
from streamtable.plan.nodes import Calc, GroupAggregate, Node, Sink
from streamtable.plan.over_node import OverAggregate
from streamtable.plan.rules.deduplicate import deduplicated
from streamtable.plan.rules.inputs import with_inputs
from streamtable.plan.stateful_nodes import TopN
from streamtable.plan.time_attributes import (
    GroupedWindow,
    grouped_window,
    processing_windows,
    session_below,
    window_field,
)
from streamtable.plan.time_joins import IntervalJoin, TemporalJoin
from streamtable.plan.time_nodes import (
    WAITING,
    WatermarkAssigner,
    WindowAggregate,
    WindowKind,
    WindowTable,
    WindowTopN,
)


def with_event_time(sink: Sink) -> Sink:
    """Puts operators over windows in place, and takes out watermarks that none waits for.

    before:  GroupAggregate(window_start, window_end, k) <- WindowTable <- ...
    after:   WindowAggregate(window_start, window_end, k) <- WindowTable <- ...

    before:  GroupAggregate(k) <- WatermarkAssigner <- Scan
    after:   GroupAggregate(k) <- Scan

    Raises:
        StreamtableError: NOT_YET for sessions that nothing sums up, for rows taken back where an
            operator does not know how, and for event time beside processing time.
    """
    windowed = _windowed(sink.input)
    _check_sessions(windowed, sink)
    stripped = _stripped(windowed, waited=False)
    _check_one_clock(stripped, sink)
    return replace(sink, input=stripped)


def _windowed(node: Node) -> Node:
    """The same tree with operators that wait, from the leaves up."""
    node = with_inputs(node, [_windowed(child) for child in node.inputs])
    match node:
        case GroupAggregate():
            found = grouped_window(node.input, node.keys)
            return _window_aggregate(node, found) if found else node
        case TopN():
            found = grouped_window(node.input, node.partition)
            return _window_top_n(node, found) if found else deduplicated(node)
        case _:
            return node


def _window_aggregate(node: GroupAggregate, found: GroupedWindow) -> Node:
    _check_unordered(node)
    _check_kept(node)
    return WindowAggregate(node.input, found.window, node.keys, found.start, found.end, node.calls)


def _window_top_n(node: TopN, found: GroupedWindow) -> Node:
    if not node.input.mode.is_append:
        raise StreamtableError(
            Condition.NOT_YET,
            at=node.at,
            what="the first rows of a window over an input whose rows may be taken back",
            hint="count them by GROUP BY window_start, window_end first",
        )
    if node.limit is None:
        msg = "a ranking without a limit, which planning refuses"
        raise InternalError(msg)
    return WindowTopN(
        node.input,
        found.window,
        node.partition,
        found.end,
        node.order,
        node.limit,
        node.skip,
        node.rank,
    )


def _check_sessions(node: Node, sink: Sink, *, summed: bool = False) -> None:
    """Sessions merge where they are summed up; nothing else may see their rows before."""
    is_session = isinstance(node, WindowTable) and node.window.kind is WindowKind.SESSION
    if is_session and not summed:
        raise StreamtableError(
            Condition.NOT_YET,
            at=sink.at,
            what="SESSION without GROUP BY window_start, window_end",
            hint="group by both, and by the columns of PARTITION BY",
        )
    if isinstance(node, WindowAggregate) and (table := session_below(node)) is not None:
        bounds = {f.name for f in node.input.fields if window_field(node.input, f.name)}
        keys = {_source(node.input, key) for key in node.keys if key not in bounds}
        if keys != set(table.window.partition):
            raise StreamtableError(
                Condition.NOT_YET,
                at=sink.at,
                what="SESSION with other columns in GROUP BY than in PARTITION BY",
                hint="name the same columns in both",
            )
    below = isinstance(node, WindowAggregate) or (summed and isinstance(node, Calc))
    for child in node.inputs:
        _check_sessions(child, sink, summed=below)


def _source(node: Node, name: str) -> str | None:
    """What a field is called below the projections; None where it is computed."""
    found: str | None = name
    while isinstance(node, Calc) and found is not None:
        found = next((p.source for p in node.projections if p.field.name == found), None)
        node = node.input
    return found


def _stripped(node: Node, *, waited: bool) -> Node:
    """The tree without the watermarks that no operator above waits for."""
    if isinstance(node, WatermarkAssigner) and not waited:
        return _stripped(node.input, waited=False)
    waits = waited or isinstance(node, TemporalJoin | IntervalJoin | OverAggregate | Deduplicate)
    waits = waits or (isinstance(node, WAITING) and not node.window.processing)
    return with_inputs(node, [_stripped(child, waited=waits) for child in node.inputs])


def _check_one_clock(node: Node, sink: Sink) -> None:
    """A query has one watermark: the clock's, or that of its rows."""
    if processing_windows(node) and _watermarked(node):
        raise StreamtableError(
            Condition.NOT_YET,
            at=sink.at,
            what="windows of processing time and operators by event time in one query",
            hint="write what the windows give into a table, and read that in another query",
        )


def _watermarked(node: Node) -> bool:
    return isinstance(node, WatermarkAssigner) or any(map(_watermarked, node.inputs))


def _check_kept(node: GroupAggregate) -> None:
    if node.ttl is not None:
        raise StreamtableError(
            Condition.NOT_YET,
            what="the hint STATE_TTL on windows, which are dropped when the watermark passes,",
            hint="remove the hint",
        )


def _check_unordered(node: GroupAggregate) -> None:
    """Refuses aggregates that go by the order of rows, which no window keeps yet."""
    for call in node.calls:
        if AGGREGATES[call.function].ordered:
            raise StreamtableError(
                Condition.NOT_YET,
                what=f"{call.function} in a window",
                hint="group without the window, or take MIN or MAX",
            )
