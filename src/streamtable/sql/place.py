"""Places of query nodes in their script."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from sqlglot import exp

from streamtable.core.errors import Span

NodeT = TypeVar("NodeT", bound=exp.Expr)

_KEY = "at"


def put_at(node: NodeT, at: Span) -> NodeT:
    """Set the place of a node's first character; copies of the node keep it."""
    node.meta[_KEY] = at
    return node


def place_of(node: exp.Expr) -> Span | None:
    """Return the place of a node, or of the nearest node: a descendant, else an ancestor."""
    return next((at for near in _nearest(node) if (at := near.meta_get(_KEY)) is not None), None)


def _nearest(node: exp.Expr) -> Iterator[exp.Expr]:
    yield from node.bfs()
    parent = node.parent
    while parent is not None:
        yield parent
        parent = parent.parent
