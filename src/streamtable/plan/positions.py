"""Brings the position of each row in its topic up to an operator that goes by the order of rows.

Only filters, projections and windows let it through: a joined or aggregated row has no one place in
a topic. Then the operator takes the rows of a batch in the order of their values, which no shuffle
changes.
"""

from __future__ import annotations

from dataclasses import replace

from streamtable.core.types import quote
from streamtable.plan.nodes import Calc, Node, Projection
from streamtable.plan.source_nodes import POSITION, Key, Normalize, Scan
from streamtable.plan.time_nodes import SessionTable, WatermarkAssigner, WindowTable

_NAMES = tuple(field.name for field in POSITION)


def with_position(node: Node) -> tuple[Node, Key]:
    """The node with its rows' positions, and the fields that hold them; none where it has none."""
    found = _positioned(node)
    return (node, ()) if found is None else (found, _NAMES)


def _positioned(node: Node) -> Node | None:
    match node:
        case Scan():
            if set(_NAMES) & {f.name for f in node.fields}:
                return node
            return replace(node, fields=(*node.fields, *POSITION))
        case Normalize():
            scan = _positioned(node.input)
            return replace(node, input=scan) if isinstance(scan, Scan) else None
        case SessionTable() if not node.input.mode.is_append:
            # A row and its removal cancel out where they are equal, positions and all.
            return None
        case WatermarkAssigner() | WindowTable():
            below = _positioned(node.input)
            return None if below is None else node.over([below])
        case Calc():
            below = _positioned(node.input)
            if below is None or set(_NAMES) & {p.field.name for p in node.projections}:
                return None if below is None else node
            kept = [Projection(f, quote(f.name), f.name, frozenset({f.name})) for f in POSITION]
            return replace(node, input=below, projections=(*node.projections, *kept))
        case _:
            return None
