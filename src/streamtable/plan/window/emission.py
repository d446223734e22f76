"""Positions of rows of windows: the order in which Flink emits the windows of a group."""

from __future__ import annotations

from streamtable.core.types import quote, timestamp
from streamtable.plan.binding.bound import Bound
from streamtable.plan.binding.moments import micros
from streamtable.plan.node import Node
from streamtable.plan.position import POSITION
from streamtable.plan.rows.calc import Calc, Projection, passed_on


def positioned_by_end(node: Node, *ends: str) -> Node:
    """Return an operator over windows with positions: partition 0, and the window's end as offset.

    Flink emits the windows of a group in the order of their ends.

    Args:
        node: the operator.
        ends: fields with the end of a row's window; the first one that is not NULL counts.
    """
    moments = [micros(Bound(quote(end), timestamp(3))) for end in ends]
    end = moments[0] if len(moments) == 1 else f"coalesce({', '.join(moments)})"
    partition, offset = POSITION
    positions = (
        Projection(partition, "0", constant=True),
        Projection(offset, end, reads=frozenset(ends)),
    )
    return Calc(node, (*passed_on(node.fields), *positions))
