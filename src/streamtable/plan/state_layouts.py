"""How each operator lays its state out, as data; a checkpoint records it.

The version rises whenever a processor's state changes its meaning, so that an older checkpoint is
refused by name rather than read wrong. Variables that only some plans have are listed, too; those
of an aggregate begin with `agg` and its number.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from streamtable.plan.arrival_nodes import ArrivalDeduplicate, ArrivalOver
from streamtable.plan.deduplicate_node import Deduplicate
from streamtable.plan.nodes import NODE_NAMES, GroupAggregate, Node
from streamtable.plan.over_node import OverAggregate, SortedOver
from streamtable.plan.source_nodes import Normalize
from streamtable.plan.stateful_nodes import Join, Materialize, TopN
from streamtable.plan.time_joins import IntervalJoin, TemporalJoin, WindowJoin
from streamtable.plan.time_nodes import SessionTable, WindowAggregate, WindowTopN


@dataclass(frozen=True)
class StateLayout:
    """The state of one kind of operator.

    Attributes:
        processors: the Java classes that keep it.
        variables: the names that they give it; `aggN` stands for the number of an aggregate.
    """

    version: int
    processors: tuple[str, ...]
    variables: frozenset[str]


_OF_GROUPS = frozenset({"group", "aggN_chunks", "aggN_distinct", "aggN_values"})

#: Every operator that keeps state.
LAYOUTS: Mapping[type, StateLayout] = {
    Normalize: StateLayout(1, ("NormalizeProcessor",), frozenset({"last"})),
    GroupAggregate: StateLayout(1, ("GroupAggregateProcessor",), _OF_GROUPS),
    Join: StateLayout(1, ("JoinProcessor",), frozenset({"left", "right"})),
    TopN: StateLayout(2, ("TopNProcessor", "TopOneProcessor"), frozenset({"top", "rest", "first"})),
    Materialize: StateLayout(1, ("MaterializeProcessor",), frozenset({"rows"})),
    WindowAggregate: StateLayout(
        1,
        ("WindowAggregateProcessor", "SessionProcessor"),
        _OF_GROUPS | {"sessions", "rows"},
    ),
    SessionTable: StateLayout(1, ("SessionProcessor",), frozenset({"sessions", "rows"})),
    WindowJoin: StateLayout(1, ("WindowJoinProcessor",), frozenset({"left", "right"})),
    WindowTopN: StateLayout(1, ("WindowTopNProcessor",), frozenset({"top"})),
    TemporalJoin: StateLayout(
        1, ("TemporalJoinProcessor",), frozenset({"waiting", "versions", "used"})
    ),
    IntervalJoin: StateLayout(1, ("IntervalJoinProcessor",), frozenset({"left", "right"})),
    OverAggregate: StateLayout(1, ("OverProcessor",), _OF_GROUPS | {"rows", "times", "used"}),
    SortedOver: StateLayout(1, ("SortedOverProcessor",), frozenset({"rows"})),
    Deduplicate: StateLayout(1, ("FirstRowProcessor",), frozenset({"first", "used"})),
    ArrivalOver: StateLayout(1, ("ArrivalOverProcessor",), _OF_GROUPS | {"rows"}),
    ArrivalDeduplicate: StateLayout(1, ("ArrivalDeduplicateProcessor",), frozenset({"kept"})),
}


def layouts(node: Node) -> Iterator[tuple[str, int]]:
    """The operators of a tree that keep state, from the top, each with its layout's version."""
    layout = LAYOUTS.get(type(node))
    if layout is not None:
        yield NODE_NAMES[type(node)], layout.version
    for child in node.inputs:
        yield from layouts(child)
