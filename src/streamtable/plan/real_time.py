"""Which operators Spark's Real-time Mode takes, and why not the others."""

from __future__ import annotations

from collections.abc import Iterator

from streamtable.plan.expand_node import Expand
from streamtable.plan.lookup_node import LookupJoin
from streamtable.plan.nodes import Calc, Node, UnionAll
from streamtable.plan.python_calls import calls_python
from streamtable.plan.source_nodes import Normalize, Scan, StaticTable, Values
from streamtable.plan.stateful_nodes import Join, Repeat
from streamtable.plan.time_joins import TimeJoin
from streamtable.plan.time_nodes import WatermarkAssigner, WindowTable

#: The operators without state.
KEEPS_NOTHING = (
    Scan,
    Values,
    StaticTable,
    Calc,
    Expand,
    Repeat,
    UnionAll,
    WatermarkAssigner,
    WindowTable,
    LookupJoin,
)


def obstacle(node: Node) -> str | None:
    """Why a tree cannot run in real-time mode; None where it can."""
    own = own_obstacle(node)
    return own or next(filter(None, map(obstacle, node.inputs)), None)


def own_obstacle(node: Node) -> str | None:
    """Why this one operator cannot, its inputs aside."""
    if any(map(calls_python, _texts(node))):
        return "Spark hands rows to Python functions in batches"
    if isinstance(node, Values | StaticTable):
        source = "VALUES" if isinstance(node, Values) else "DataFrame"
        return f"Spark does not read the rows of a {source} there"
    two = isinstance(node, Join | UnionAll | TimeJoin)
    if two and any(stages_of_state(child) for child in node.inputs):
        tables = [n.input.table.name for n in map(_lone_normalize, node.inputs) if n]
        what = "Spark takes no operator with state before two inputs meet"
        if isinstance(node, Join) and tables:
            what += f", and {' and '.join(tables)} must be normalized for want of its primary key"
            what += " in the join's"
        return what
    return None


def stages_of_state(node: Node) -> int:
    """How many stages of state lie in a tree; each begins with a shuffle."""
    own = not isinstance(node, KEEPS_NOTHING)
    return int(own) + sum(stages_of_state(child) for child in node.inputs)


def _lone_normalize(node: Node) -> Normalize | None:
    """The normalizer that is the only state below a node."""
    while isinstance(node, Calc):
        node = node.input
    return node if isinstance(node, Normalize) else None


def _texts(node: Node) -> Iterator[str]:
    if isinstance(node, Calc):
        yield from (projection.sql for projection in node.projections)
        yield node.condition or ""


def unkept_scans(node: Node) -> tuple[Scan, ...]:
    """The scans whose rows reach a node's output through nothing that keeps state."""
    if isinstance(node, Scan):
        return (node,)
    if not isinstance(node, KEEPS_NOTHING):
        return ()
    return tuple(scan for child in node.inputs for scan in unkept_scans(child))
