"""Drops the columns that nothing above reads, down to the bytes that are never decoded."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from streamtable.plan.expand_node import Expand
from streamtable.plan.keys import unique_keys
from streamtable.plan.lookup_node import LookupJoin
from streamtable.plan.nodes import Calc, Collect, GroupAggregate, Node, Sink, UnionAll
from streamtable.plan.source_nodes import Normalize, Scan, StaticTable, Values
from streamtable.plan.stateful_nodes import Join, Materialize, Repeat, TopN
from streamtable.plan.time_nodes import TimeOperator, WindowAggregate

R = TypeVar("R", Sink, Collect)


def prune_columns(plan: R) -> R:
    """Asks each node for the columns its consumer reads.

    before:  Sink(region, n) <- GroupAggregate(region) <- Scan(user, page, time, region)
    after:   Sink(region, n) <- GroupAggregate(region) <- Scan(region)

    A scan keeps its primary key, because rows are identified by it; a normalizer then compares
    rows by what is left, so that a change of an unread column is no change.
    """
    return replace(plan, input=_prune(plan.input, {f.name for f in plan.input.fields}))


def _prune(node: Node, wanted: set[str]) -> Node:  # noqa: C901 - a case for each node
    match node:
        case Scan():
            keep = wanted.union(*unique_keys(node))
            fields = tuple(f for f in node.fields if f.name in keep)
            return replace(node, fields=fields)
        case Values():
            return _prune_values(node, wanted)
        case StaticTable():
            return replace(node, fields=tuple(f for f in node.fields if f.name in wanted))
        case Normalize():
            pruned = _prune(node.input, wanted | set(node.key))
            assert isinstance(pruned, Scan), "a scan stays a scan"  # noqa: S101
            return replace(node, input=pruned)
        case Calc():
            kept = tuple(p for p in node.projections if p.field.name in wanted)
            reads = {name for p in kept for name in p.reads} | node.condition_fields
            below = _prune(node.input, reads)
            pruned = replace(node, input=below, projections=kept)
            return below if _changes_nothing(pruned) else pruned
        case Expand():
            made = {f.name for f in node.made}
            return replace(node, input=_prune(node.input, (wanted - made) | node.reads))
        case GroupAggregate():
            calls = tuple(c for c in node.calls if c.output.name in wanted)
            read = {c.argument for c in calls} | {c.filter for c in calls}
            reads = {*node.keys, *node.order} | {name for name in read if name is not None}
            return replace(node, input=_prune(node.input, reads), calls=calls)
        case Join():
            return _prune_join(node, wanted)
        case TopN():
            return _prune_top_n(node, wanted)
        case Materialize():
            return replace(node, input=_prune(node.input, wanted | {*node.key, *node.order}))
        case Repeat():
            return replace(node, input=_prune(node.input, wanted | {node.count}))
        case UnionAll():
            return UnionAll(tuple(_prune(child, wanted) for child in node.inputs))
        case TimeOperator():
            return _prune_in_time(node, wanted)


def _prune_in_time(node: TimeOperator, wanted: set[str]) -> Node:
    if isinstance(node, WindowAggregate):
        calls = tuple(c for c in node.calls if c.output.name in wanted)
        node = replace(node, calls=calls)
    if isinstance(node, LookupJoin):
        read = (wanted | node.condition_fields) & {f.name for f in node.table.fields}
        node = replace(node, table=_prune(node.table, read))
    pairs = zip(node.inputs, node.reads(wanted), strict=True)
    return node.over([_prune(child, read) for child, read in pairs])


def _prune_values(node: Values, wanted: set[str]) -> Values:
    kept = [i for i, f in enumerate(node.fields) if f.name in wanted]
    rows = tuple(tuple(row[i] for i in kept) for row in node.rows)
    return Values(tuple(node.fields[i] for i in kept), rows)


def _prune_top_n(node: TopN, wanted: set[str]) -> TopN:
    reads = wanted | {*node.partition, *(key.field for key in node.order), *node.ties}
    pruned = replace(node, input=_prune(node.input, reads))
    there = {f.name for f in pruned.fields}
    return pruned if set(node.key or ()) <= there else replace(pruned, key=None)


def _prune_join(node: Join, wanted: set[str]) -> Join:
    """A join whose consumer does not read its key need not pair updates by it."""
    reads = wanted | node.condition_fields | {*node.left_keys, *node.right_keys}
    reads |= {*(node.left_upserts or ()), *(node.right_upserts or ())}
    pruned = replace(node, left=_prune(node.left, reads), right=_prune(node.right, reads))
    there = {f.name for f in pruned.fields}
    return pruned if set(node.key or ()) <= there else replace(pruned, key=None)


def _changes_nothing(node: Calc) -> bool:
    """Whether what is left of a projection is what its input gives anyway."""
    same = [(p.source, p.field.name) for p in node.projections]
    return node.condition is None and same == [(f.name, f.name) for f in node.input.fields]
