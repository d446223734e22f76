"""State layouts of a plan, as recorded in a checkpoint."""

from __future__ import annotations

from collections.abc import Iterator

from streamtable.plan.node import Node
from streamtable.plan.rules.tree import every


def layouts(node: Node, *, buckets: bool = False) -> Iterator[tuple[str, int]]:
    """Yield the stateful operators of a tree from the top, each with its layout version.

    `buckets` is `Sink.window_buckets`.
    """
    for part in every(node):
        layout = part.layout(buckets=buckets)
        if layout is not None:
            yield layout.id, layout.version
