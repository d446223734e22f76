"""Watermark use of a plan: operators that wait, and the clock that they wait for."""

from __future__ import annotations

from streamtable.plan.node import Node
from streamtable.plan.rules.tree import every
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
