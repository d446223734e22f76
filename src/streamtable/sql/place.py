"""Where a node of a query stands in its script."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from sqlglot import exp

from streamtable.core.errors import Span

NodeT = TypeVar("NodeT", bound=exp.Expr)

_KEY = "at"


def put_at(node: NodeT, at: Span) -> NodeT:
    """The node, with the place of its first character; copies of it keep the place."""
    node.meta[_KEY] = at
    return node


def place_of(node: exp.Expr) -> Span | None:
    """The place of a node, or the nearest there is: of what it holds, else of what holds it."""
    return next((at for near in _nearest(node) if (at := near.meta_get(_KEY)) is not None), None)


def _nearest(node: exp.Expr) -> Iterator[exp.Expr]:
    yield from node.bfs()
    parent = node.parent
    while parent is not None:
        yield parent
        parent = parent.parent
