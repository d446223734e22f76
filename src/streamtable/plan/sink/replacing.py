"""Append-only rows that replace each other in a table that keeps one row for each key."""

from __future__ import annotations

from streamtable.plan.keys import unique_keys
from streamtable.plan.node import Node
from streamtable.plan.position import is_scattered
from streamtable.plan.rows.calc import Calc
from streamtable.plan.sink.sink import Sink
from streamtable.plan.window.window import WindowKind
from streamtable.plan.window.window_aggregate import WindowAggregate
from streamtable.plan.window.window_top_n import WindowTopN


def replaces_inserts(sink: Sink) -> bool:
    """Return whether rows of an append-only query replace each other in the sink.

    They do in an upsert table, unless its key contains a unique key of the query, such as the key
    of a window aggregate. In that case no two rows have the same sink key.
    """
    if not (sink.takes_upserts and sink.input.mode.is_append):
        return False
    told_apart = {*sink.key, *sink.input.constants}
    if any(set(key) <= told_apart for key in unique_keys(sink.input)):
        return False
    return not _identifies_windows(sink.input, frozenset(sink.key))


def mixes_windows(sink: Sink) -> bool:
    """Return whether rows of several windows, in any order, replace each other in the sink."""
    return (
        is_scattered(sink.input)
        and replaces_inserts(sink)
        and _mixes_windows(sink.input, frozenset(sink.key))
    )


def _mixes_windows(node: Node, names: frozenset[str]) -> bool:
    """Return whether two windows may have the same values of these fields."""
    if isinstance(node, Calc):
        return _mixes_windows(node.input, _below(node, names))
    if node.emits_apart or node.state is None:
        return not _identifies_windows(node, names)
    return any(_mixes_windows(child, names) for child in node.arrival_inputs if is_scattered(child))


def _below(node: Calc, names: frozenset[str]) -> frozenset[str]:
    """Return the input fields that a projection passes on under these names."""
    found = (p.source for p in node.projections if p.field.name in names)
    return frozenset(filter(None, found))


def _identifies_windows(node: Node, names: frozenset[str]) -> bool:
    """Return whether these fields identify the windows of window results.

    A key needs only one bound of a window, because one bound determines the other. For TUMBLE, HOP
    and SESSION, either bound will do. For CUMULATE it must be the end, because several of its
    windows start together.
    """
    match node:
        case Calc():
            return _identifies_windows(node.input, _below(node, names))
        case WindowAggregate() | WindowTopN():
            several_ends = node.window.kind is WindowKind.CUMULATE
            spare = [] if several_ends else [node.end]
            if isinstance(node, WindowAggregate):
                spare.append(node.start)
            return any(
                set(node.window.partition) | (set(key) - {bound}) <= names
                for key in unique_keys(node)
                for bound in spare
            )
        case _:
            return False
