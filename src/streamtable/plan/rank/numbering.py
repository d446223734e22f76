"""ROW_NUMBER without a limit: number all rows."""

from __future__ import annotations

from streamtable.core.errors import Condition, StreamtableError
from streamtable.plan.aggregate.call import AggregateCall
from streamtable.plan.node import Node
from streamtable.plan.over.frame import Frame
from streamtable.plan.over.over_aggregate import OverAggregate
from streamtable.plan.over.processing_time_over import ProcessingTimeOver
from streamtable.plan.over.sorted_over import SortedOver
from streamtable.plan.rank.top_n import TopN
from streamtable.plan.rules.tree import rebuilt


def with_numbering(node: Node) -> Node:
    """Replace each ranking without a limit by an operator that numbers all rows.

    The replacement is an OverAggregate for an order by event time, a ProcessingTimeOver for an
    order by processing time, and a SortedOver for any other order.

    before:  TopN(k, order by ts, rank rn) without a limit <- ...
    after:   OverAggregate(k, ts, ROWS UNBOUNDED: ROW_NUMBER() AS rn) <- ...

    Raises:
        StreamtableError: NOT_YET unless the order is a single ascending column.
    """
    return rebuilt(node, _numbered)


def _numbered(node: Node) -> Node:
    if not isinstance(node, TopN) or node.limit is not None:
        return node
    if len(node.order) != 1 or node.order[0].descending or node.rank is None:
        raise StreamtableError(
            Condition.NOT_YET,
            at=node.at,
            what="ROW_NUMBER without a limit, unless it is ordered by one ascending column",
            hint="select from it with a condition such as WHERE rn <= 10",
        )
    (order,), calls = node.order, (AggregateCall("ROW_NUMBER", node.rank),)
    frame = Frame(peers=False)
    if node.arrival:
        return ProcessingTimeOver(node.input, node.partition, order.field, frame, calls, at=node.at)
    if node.input.is_event_time(order.field):
        return OverAggregate(node.input, node.partition, order.field, frame, calls, at=node.at)
    return SortedOver(node.input, node.partition, order, frame, calls)
