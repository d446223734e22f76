"""Nodes over other inputs, for rules that go through a whole tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from streamtable.core.errors import InternalError
from streamtable.plan.expand_node import Expand
from streamtable.plan.nodes import Calc, GroupAggregate, Node, UnionAll
from streamtable.plan.source_nodes import Scan, StaticTable, Values
from streamtable.plan.stateful_nodes import Join, Materialize, Repeat, TopN
from streamtable.plan.time_nodes import TimeOperator


def with_inputs(node: Node, inputs: Sequence[Node]) -> Node:
    """The same node over other inputs."""
    match node:
        case Calc() | Expand() | GroupAggregate() | TopN() | Materialize() | Repeat():
            return replace(node, input=inputs[0])
        case Join():
            return replace(node, left=inputs[0], right=inputs[1])
        case UnionAll():
            return UnionAll(tuple(inputs))
        case TimeOperator():
            return node.over(inputs)
        case Scan() | Values() | StaticTable():
            return node
        case _:
            msg = "a node that only the inference of row kinds makes"
            raise InternalError(msg)
