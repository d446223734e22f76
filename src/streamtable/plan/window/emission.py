"""Positions of rows that wait for the watermark: the order in which Flink emits them."""

from __future__ import annotations

from streamtable.core.types import quote
from streamtable.plan.binding.bound import Bound, whole
from streamtable.plan.binding.moments import micros
from streamtable.plan.node import Node
from streamtable.plan.position import POSITION
from streamtable.plan.rows.calc import Calc, Projection, passed_on


def positioned_by_time(node: Node, *times: str) -> Node:
    """Return an operator with positions: partition 0, and a time as the offset.

    Flink emits the rows of a group in the order of their event times, and windows in the order of
    their ends.

    Args:
        node: the operator.
        times: fields with the event time of a row, or the end of its window; the first one that is
            not NULL counts.
    """
    types = {f.name: f.type for f in node.fields}
    moments = [micros(Bound(quote(time), types[time])) for time in times]
    moment = moments[0] if len(moments) == 1 else f"coalesce({', '.join(moments)})"
    partition, offset = POSITION
    positions = (
        Projection(partition, "0", constant=True),
        Projection(offset, moment, paths=whole(times)),
    )
    return Calc(node, (*passed_on(node.fields), *positions))
