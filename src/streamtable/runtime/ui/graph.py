"""The plans of a job as one graph of tables and operators."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any

from streamtable.plan.node import Node
from streamtable.plan.sink.sink import Sink
from streamtable.plan.source.scan import Scan

#: Nodes and edges as JSON values. A node has `id`, `kind` (`table` or `operator`), `title`, `line`
#: and `query`; an operator with state has `state`, its place among the stateful operators of its
#: query, from the sink down. An edge has the ids of its ends.
Graph = Mapping[str, list[Any]]


def graph_of(plans: Mapping[str, Sink]) -> Graph:
    """Return the graph of a job's plans; a table that several queries use is one node."""
    nodes: dict[str, dict[str, Any]] = {}
    edges: list[tuple[str, str]] = []
    for query, plan in plans.items():
        sink = _add_table(nodes, plan.table.name, plan.table.connector.describe())
        _add(nodes, edges, plan.input, sink, query, count())
    return {"nodes": list(nodes.values()), "edges": [list(edge) for edge in dict.fromkeys(edges)]}


def _add(
    nodes: dict[str, dict[str, Any]],
    edges: list[tuple[str, str]],
    node: Node,
    above: str,
    query: str,
    states: Iterator[int],
) -> None:
    """Add an operator and its inputs in the order of `plan.rules.tree.every`."""
    if isinstance(node, Scan):
        edges.append((_add_table(nodes, node.table.name, node.headline), above))
        return
    own = f"operator:{query}:{len(nodes)}"
    nodes[own] = {
        "id": own,
        "kind": "operator",
        "title": node.title,
        "line": node.headline,
        "query": query,
        "state": None if node.state is None else next(states),
    }
    edges.append((own, above))
    for child in node.inputs:
        _add(nodes, edges, child, own, query, states)
    for table in node.side_tables:
        _add(nodes, edges, table, own, query, states)


def _add_table(nodes: dict[str, dict[str, Any]], name: str, line: str) -> str:
    own = f"table:{name}"
    nodes.setdefault(
        own,
        {"id": own, "kind": "table", "title": name, "line": line, "query": None, "state": None},
    )
    return own
