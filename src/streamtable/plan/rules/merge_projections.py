"""Takes out projections that only rename or reorder what another one below has computed."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from streamtable.plan.expand_node import Expand
from streamtable.plan.nodes import Calc, Collect, GroupAggregate, Node, Sink, UnionAll
from streamtable.plan.source_nodes import Normalize, Scan, StaticTable, Values
from streamtable.plan.stateful_nodes import Join, Materialize, Repeat, TopN
from streamtable.plan.time_nodes import TimeOperator

R = TypeVar("R", Sink, Collect)


def merge_projections(plan: R) -> R:
    """Merges a projection without expressions of its own into the one below it.

    before:  Calc(a AS x, n AS y) <- Calc(a, COUNT AS n, b) <- ...
    after:   Calc(a AS x, COUNT AS y) <- ...
    """
    return replace(plan, input=_merge(plan.input))


def _merge(node: Node) -> Node:
    match node:
        case Calc():
            below = _merge(node.input)
            merged = _merged(node, below)
            return merged or replace(node, input=below)
        case Expand() | GroupAggregate() | Materialize() | Repeat() | TopN():
            return replace(node, input=_merge(node.input))
        case Join():
            return replace(node, left=_merge(node.left), right=_merge(node.right))
        case UnionAll():
            return UnionAll(tuple(_merge(child) for child in node.inputs))
        case Scan() | Values() | StaticTable() | Normalize():
            return node
        case TimeOperator():
            return node.over(tuple(_merge(child) for child in node.inputs))


def _merged(node: Calc, below: Node) -> Calc | None:
    """The two as one; None where the upper one computes, filters or pairs something itself."""
    if not isinstance(below, Calc) or node.condition is not None or node.paired:
        return None
    computed = {p.field.name: p for p in below.projections}
    if any(p.source is None for p in node.projections):
        return None
    projections = tuple(
        replace(computed[p.source], field=p.field) for p in node.projections if p.source
    )
    return replace(below, projections=projections)
