"""The first or the last row of each partition in the order of a time."""

from __future__ import annotations

from dataclasses import replace

from streamtable.core.types import quote
from streamtable.plan.arrival_nodes import ArrivalDeduplicate
from streamtable.plan.deduplicate_node import Deduplicate
from streamtable.plan.nodes import Calc, Node, Projection
from streamtable.plan.stateful_nodes import TopN
from streamtable.plan.time_attributes import is_event_time


def deduplicated(node: TopN) -> Node:
    """What one place of a ranking becomes, where its order is that of a time.

    before:  TopN(k, 1 of ts ASC) <- rows that are only added
    after:   Deduplicate(k, ts) <- ..., or ArrivalDeduplicate(k) where ts is a processing time

    The first row needs no update, because nothing before the watermark comes any more; the last one
    is replaced at once, by a row of the same moment too. Source: Flink's *Deduplication* page.
    """
    first = node.order[0] if len(node.order) == 1 else None
    timed = first is not None and is_event_time(node.input, first.field)
    one = node.limit == 1 and not node.skip and node.input.mode.is_append
    if first is None or not (timed or node.arrival) or not one:
        return node
    kept: Node
    if node.arrival:
        kept = ArrivalDeduplicate(node.input, node.partition, first.descending)
    elif first.descending:
        return replace(node, last=True)
    else:
        kept = Deduplicate(node.input, node.partition, first.field)
    if node.rank is None:
        return kept
    passed = (Projection(f, quote(f.name), f.name, frozenset({f.name})) for f in node.input.fields)
    return Calc(kept, (*passed, Projection(node.rank, "1L", constant=True)))
