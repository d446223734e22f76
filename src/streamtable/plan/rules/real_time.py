"""Support of operators in Spark's real-time mode."""

from __future__ import annotations

from streamtable.plan.node import Node
from streamtable.plan.rules.tree import every


def obstacle(node: Node) -> str | None:
    """Return why a tree cannot run in real-time mode; None if it can."""
    return next(filter(None, (part.obstacle() for part in every(node))), None)
