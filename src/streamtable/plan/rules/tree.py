"""Tree traversal."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from streamtable.plan.node import Node


def every(node: Node) -> Iterator[Node]:
    """Yield the operators of a tree, from the top."""
    yield node
    for child in node.inputs:
        yield from every(child)


def rebuilt(node: Node, rewrite: Callable[[Node], Node]) -> Node:
    """Rewrite each operator of a tree, from the leaves up."""
    return rewrite(node.over([rebuilt(child, rewrite) for child in node.inputs]))
