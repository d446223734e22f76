"""A ROW_NUMBER that no WHERE has given a limit numbers every row."""

from __future__ import annotations

from streamtable.core.errors import Condition, StreamtableError
from streamtable.plan.arrival_nodes import ArrivalOver
from streamtable.plan.nodes import AggregateCall, Node
from streamtable.plan.over_node import Frame, OverAggregate, SortedOver
from streamtable.plan.rules.inputs import with_inputs
from streamtable.plan.stateful_nodes import TopN
from streamtable.plan.time_attributes import is_event_time


def with_numbering(node: Node) -> Node:
    """Makes of rankings without a limit what numbers all rows.

    before:  TopN(k, order by ts, rank rn) without a limit <- ...
    after:   OverAggregate(k, ts, ROWS UNBOUNDED: ROW_NUMBER() AS rn) <- ..., or an ArrivalOver
             where the order is that of processing time, a SortedOver where it is that of none

    Raises:
        StreamtableError: NOT_YET where the order is not that of one ascending column.
    """
    below = with_inputs(node, [with_numbering(child) for child in node.inputs])
    if not isinstance(below, TopN) or below.limit is not None:
        return below
    if len(below.order) != 1 or below.order[0].descending or below.rank is None:
        raise StreamtableError(
            Condition.NOT_YET,
            at=below.at,
            what="ROW_NUMBER without a limit, in another order than that of one ascending column",
            hint="select from it with a condition such as WHERE rn <= 10",
        )
    (order,), call = below.order, AggregateCall("ROW_NUMBER", below.rank)
    frame = Frame(peers=False)
    if below.arrival:
        return ArrivalOver(below.input, below.partition, order.field, frame, (call,), at=below.at)
    if is_event_time(below.input, order.field):
        return OverAggregate(below.input, below.partition, order.field, frame, (call,), at=below.at)
    return SortedOver(below.input, below.partition, order, frame, (call,))
