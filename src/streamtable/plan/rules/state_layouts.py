"""State layouts of a plan, as recorded in a checkpoint."""

from __future__ import annotations

from collections.abc import Iterator

from streamtable.plan.node import Node
from streamtable.plan.rules.tree import every


def layouts(node: Node) -> Iterator[tuple[str, int]]:
    """Yield the stateful operators of a tree from the top, each with its layout version."""
    for part in every(node):
        if part.state is not None:
            yield part.state.id, part.state.version
