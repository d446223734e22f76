"""Depth limit of queries and expressions: later stages traverse the tree recursively."""

from __future__ import annotations

from sqlglot import exp

from streamtable.core.errors import Condition, StreamtableError
from streamtable.sql.place import place_of

#: Maximum depth of a tree; Flink has no such limit.
DEEPEST = 150

#: The parser reads chains of these in a loop, regardless of length.
_FLAT = (exp.SetOperation, exp.And, exp.Or)


def check_depth(node: exp.Expr) -> None:
    """Refuse a tree that is too deep.

    Raises:
        StreamtableError: TOO_DEEP, at the first node beyond the limit.
    """
    rest = [(node, 1)]
    while rest:
        found, depth = rest.pop()
        if depth > DEEPEST:
            raise StreamtableError(
                Condition.TOO_DEEP, at=place_of(found), hint=_way_out(found), deepest=DEEPEST
            )
        for child in found.iter_expressions():
            in_chain = isinstance(found, _FLAT) and type(child) is type(found)
            rest.append((child, depth if in_chain else depth + 1))


def _way_out(node: exp.Expr) -> str:
    if node.find_ancestor(exp.DPipe):
        return "CONCAT(a, b, ...) takes any number of values"
    return "compute parts of it in a subquery"
