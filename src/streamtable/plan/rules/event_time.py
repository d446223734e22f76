"""What event time asks of a plan: operators that wait for windows, watermarks where one waits."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TypeVar

from streamtable.core.errors import Condition, InternalError, Span, StreamtableError
from streamtable.plan.changelog_mode import describe_source, first_changing
from streamtable.plan.functions import AGGREGATES
from streamtable.plan.nodes import Calc, Collect, GroupAggregate, Node, Sink, UnionAll
from streamtable.plan.rules.deduplicate import deduplicated
from streamtable.plan.rules.inputs import with_inputs
from streamtable.plan.stateful_nodes import Join, TopN
from streamtable.plan.time_attributes import (
    GroupedWindow,
    JoinedWindow,
    by_clock,
    grouped_window,
    is_complete,
    joined_window,
    processing_windows,
    session_below,
    window_field,
)
from streamtable.plan.time_joins import WindowJoin
from streamtable.plan.time_nodes import (
    SessionTable,
    TimeOperator,
    WatermarkAssigner,
    WindowAggregate,
    WindowKind,
    WindowTable,
    WindowTopN,
)

R = TypeVar("R", Sink, Collect)


def with_event_time(plan: R) -> R:
    """Puts operators over windows in place, and takes out watermarks that none waits for.

    before:  GroupAggregate(window_start, window_end, k) <- WindowTable <- ...
    after:   WindowAggregate(window_start, window_end, k) <- WindowTable <- ...

    before:  GroupAggregate(k) <- WatermarkAssigner <- Scan
    after:   GroupAggregate(k) <- Scan

    Raises:
        StreamtableError: TAKES_INSERTS_ONLY for changes where Flink's operator takes none;
            NOT_YET for event time beside processing time, and for rows that come when the watermark
            has passed them beside others.
    """
    windowed = _windowed(plan.input, plan.at)
    stripped = _stripped(_with_sessions(windowed), waited=False)
    _check_one_clock(stripped, plan.at)
    _check_unions(stripped, plan.at)
    return replace(plan, input=stripped)


def _windowed(node: Node, at: Span | None) -> Node:
    """The same tree with operators that wait, from the leaves up; `at` is the query's place."""
    node = with_inputs(node, [_windowed(child, at) for child in node.inputs])
    match node:
        case GroupAggregate():
            found = grouped_window(node.input, node.keys)
            return _window_aggregate(node, found) if found else node
        case TopN():
            found = grouped_window(node.input, node.partition)
            return _window_top_n(node, found) if found else deduplicated(node)
        case Join():
            joined = joined_window(node)
            return _window_join(node, joined, at) if joined else node
        case _:
            return node


def _window_aggregate(node: GroupAggregate, found: GroupedWindow) -> Node:
    _check_kept(node.ttl)
    return WindowAggregate(node.input, found.window, node.keys, found.start, found.end, node.calls)


def _window_top_n(node: TopN, found: GroupedWindow) -> Node:
    if not node.input.mode.is_append:
        raise _takes_inserts(node.input, node.at, "the ranking in a window")
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


def _window_join(node: Join, found: JoinedWindow, at: Span | None) -> WindowJoin:
    _check_kept(node.left_ttl, node.right_ttl)
    for child in node.inputs:
        if not child.mode.is_append:
            raise _takes_inserts(child, at, "the window join")
    return WindowJoin(
        node.left,
        node.right,
        node.kind,
        node.keys,
        node.condition,
        node.condition_fields,
        found.window,
        found.left_end,
        found.right_end,
    )


def _takes_inserts(child: Node, at: Span | None, operator: str) -> StreamtableError:
    """Flink's refusal of changes, in its words."""
    return StreamtableError(
        Condition.TAKES_INSERTS_ONLY,
        at=at,
        operator=operator,
        source=describe_source(first_changing(child)),
        hint="group its rows by the window first",
    )


def _with_sessions(node: Node, *, summed: bool = False) -> Node:
    """The same tree, in which rows wait for their session wherever no aggregation merges them.

    An aggregation by the columns of PARTITION BY merges its rows as they come; for all else the
    rows of a session are gathered first, and for aggregates that go by the order of rows.
    """
    if isinstance(node, WindowTable) and node.window.kind is WindowKind.SESSION and not summed:
        table = _with_sessions(node.input)
        return SessionTable(table, node.window, node.time, node.start, node.end, node.last)
    merges = isinstance(node, WindowAggregate) and _merges_sessions(node)
    merged = merges or (summed and isinstance(node, Calc))
    return with_inputs(node, [_with_sessions(child, summed=merged) for child in node.inputs])


def _merges_sessions(node: WindowAggregate) -> bool:
    table = session_below(node)
    if table is None:
        return False
    bounds = {f.name for f in node.input.fields if window_field(node.input, f.name)}
    keys = {_source(node.input, key) for key in node.keys if key not in bounds}
    ordered = any(AGGREGATES[call.function].ordered for call in node.calls)
    return keys == set(table.window.partition) and not ordered


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
    waits = waited or (isinstance(node, TimeOperator) and node.waits and not by_clock(node))
    return with_inputs(node, [_stripped(child, waited=waits) for child in node.inputs])


def _check_one_clock(node: Node, at: Span | None) -> None:
    """A query has one watermark: the clock's, or that of its rows."""
    if processing_windows(node) and _watermarked(node):
        raise StreamtableError(
            Condition.NOT_YET,
            at=at,
            what="windows of processing time and operators by event time in one query",
            hint="write what the windows give into a table, and read that in another query",
        )


def _check_unions(node: Node, at: Span | None) -> None:
    """An operator that waits takes its rows for late, or for none of them late.

    What a window gives comes when the watermark has just passed it; beside rows that may be late it
    would be taken for late itself.
    """
    if isinstance(node, TimeOperator) and node.waits and any(map(_mixes, node.inputs)):
        raise StreamtableError(
            Condition.NOT_YET,
            at=at,
            what="UNION ALL of rows that come out of a window and of others, below an operator that"
            " waits for a watermark,",
            hint="write what the window gives into a table, and read that in another query",
        )
    for child in node.inputs:
        _check_unions(child, at)


def _mixes(node: Node) -> bool:
    """Whether some of the rows come when the watermark has passed them, and others do not."""
    if isinstance(node, TimeOperator) and node.fires_windows:
        return False
    if isinstance(node, UnionAll) and len(set(map(is_complete, node.inputs))) > 1:
        return True
    return any(map(_mixes, node.inputs))


def _watermarked(node: Node) -> bool:
    return isinstance(node, WatermarkAssigner) or any(map(_watermarked, node.inputs))


def _check_kept(*ttls: timedelta | None) -> None:
    if any(ttl is not None for ttl in ttls):
        raise StreamtableError(
            Condition.NOT_YET,
            what="the hint STATE_TTL on windows, which are dropped when the watermark passes,",
            hint="remove the hint",
        )
