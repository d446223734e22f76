"""Watermark use of a plan: operators that wait, and the clock that they wait for."""

from __future__ import annotations

from streamtable.core.table import WaitingConnector
from streamtable.plan.node import Node
from streamtable.plan.rules.tree import every
from streamtable.plan.sink.sink import Root, Sink
from streamtable.plan.window.window import Window


def is_complete(node: Node) -> bool:
    """Return whether rows are emitted after the watermark passes their window; none is late."""
    if node.fires_windows:
        return True
    return bool(node.inputs) and all(map(is_complete, node.inputs))


def waits(node: Node) -> bool:
    """Return whether an operator of a finished plan waits for a watermark.

    Unused watermark operators have been removed from a finished plan.
    """
    return any(part.moves_watermark for part in every(node)) or bool(processing_windows(node))


def processing_windows(node: Node) -> tuple[Window, ...]:
    """Return the processing-time windows that operators of a tree wait for."""
    return tuple(part.clock_window for part in every(node) if part.clock_window is not None)


def sink_waits(plan: Root) -> bool:
    """Return whether the sink of a plan waits for a watermark."""
    if not isinstance(plan, Sink):
        return False
    connector = plan.table.connector
    return isinstance(connector, WaitingConnector) and connector.waits_for_watermark


def lacking_watermark(plan: Root) -> str | None:
    """Return a notice if the sink of a plan waits for a watermark that no table gives."""
    if not sink_waits(plan) or waits(plan.input):
        return None
    place = f"{plan.at}: " if plan.at else ""
    return (
        f"{place}the sink waits for a watermark, but no table of the query declares one: nothing"
        " is committed before the end of a bounded run"
    )
