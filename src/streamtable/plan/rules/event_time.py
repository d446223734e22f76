"""Event time rules: add operators that wait for windows; remove unused watermarks."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from streamtable.core.errors import Condition, Span, StreamtableError
from streamtable.plan.functions.time.watermarks import EVENT_TIME, watermark_arguments
from streamtable.plan.node import Node
from streamtable.plan.rules.tree import every, rebuilt
from streamtable.plan.rules.watermarks import is_complete, processing_windows, sink_waits
from streamtable.plan.sink.sink import Collect, Sink

R = TypeVar("R", Sink, Collect)


def with_event_time(plan: R) -> R:
    """Replace operators over windows, and remove watermarks that no operator waits for.

    before:  GroupAggregate(window_start, window_end, k) <- WindowTable <- ...
    after:   WindowAggregate(window_start, window_end, k) <- WindowTable <- ...

    before:  GroupAggregate(k) <- WatermarkAssigner <- Scan
    after:   GroupAggregate(k) <- Scan

    Raises:
        StreamtableError: ARGUMENT_MISMATCH for CURRENT_WATERMARK of another column than an event
            time; TAKES_INSERTS_ONLY for changes if Flink's operator accepts only inserts; NOT_YET
            for event time together with processing time, and for a union of window results with
            other rows.
    """
    _check_watermark_calls(plan.input, plan.at)
    windowed = rebuilt(plan.input, lambda node: node.in_time(plan.at))
    punctual = _without_late(windowed.with_sessions(merged=False), waited=False)
    stripped = _stripped(punctual, waited=sink_waits(plan))
    _check_one_clock(stripped, plan.at)
    _check_unions(stripped, plan.at)
    return replace(plan, input=stripped)


def _stripped(node: Node, *, waited: bool) -> Node:
    """Return the tree without watermarks that no operator above waits for or reads."""
    if node.moves_watermark and not waited:
        (below,) = node.inputs
        return _stripped(below, waited=False)
    waits = waited or (node.waits and node.clock_window is None)
    waits = waits or any(map(any, map(watermark_arguments, node.spark_texts)))
    return node.over([_stripped(child, waited=waits) for child in node.inputs])


def _without_late(node: Node, *, waited: bool) -> Node:
    """Return the tree in which no late row reaches an operator that waits after another one.

    The second operator could not tell late rows from those that have waited.
    """
    drops = waited or (node.waits and not node.passes_late)
    below = node.over([_without_late(child, waited=drops) for child in node.inputs])
    return below.without_late() if waited else below


def _check_watermark_calls(node: Node, at: Span | None) -> None:
    """Refuse CURRENT_WATERMARK of a column to which no watermark applies, as Flink does."""
    for text in node.spark_texts:
        for name in watermark_arguments(text):
            if not any(child.is_event_time(name) for child in node.inputs):
                fields = [field for child in node.inputs for field in child.fields]
                raise StreamtableError(
                    Condition.ARGUMENT_MISMATCH,
                    at=at,
                    hint="declare WATERMARK FOR it in its table, and pass it on unchanged",
                    function="CURRENT_WATERMARK",
                    expected=f"({EVENT_TIME.name})",
                    found=next((f.type.sql() for f in fields if f.name == name), name),
                )
    for child in node.inputs:
        _check_watermark_calls(child, at)


def _check_one_clock(node: Node, at: Span | None) -> None:
    """Refuse event time together with processing time: a query has one watermark."""
    if processing_windows(node) and any(part.moves_watermark for part in every(node)):
        raise StreamtableError(
            Condition.NOT_YET,
            at=at,
            what="processing-time windows and event-time operators in one query",
            hint="write the window results into a table, and read the table in another query",
        )


def _check_unions(node: Node, at: Span | None) -> None:
    """Refuse a union of window results with other rows below an operator that waits.

    Window results are emitted just after the watermark passes their time. An operator that waits
    either drops late rows or accepts all rows. If it dropped late rows of the other inputs, it
    would drop the window results as well.
    """
    if node.waits and any(map(_mixes, node.inputs)):
        raise StreamtableError(
            Condition.NOT_YET,
            at=at,
            what="UNION ALL of window results and other rows, below an operator that waits for"
            " a watermark,",
            hint="write the window results into a table, and read the table in another query",
        )
    for child in node.inputs:
        _check_unions(child, at)


def _mixes(node: Node) -> bool:
    """Return whether only some of the rows are emitted after the watermark has passed them."""
    if node.fires_windows:
        return False
    if node.mixes_inputs and len(set(map(is_complete, node.inputs))) > 1:
        return True
    return any(map(_mixes, node.inputs))
