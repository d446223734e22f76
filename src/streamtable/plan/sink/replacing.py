"""Append-only rows that replace each other in a table that keeps one row for each key."""

from __future__ import annotations

from streamtable.plan.keys import unique_keys
from streamtable.plan.node import Node
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


def _identifies_windows(node: Node, names: frozenset[str]) -> bool:
    """Return whether these fields identify the windows of window results.

    A key needs only one bound of a window, because one bound determines the other. For TUMBLE, HOP
    and SESSION, either bound will do. For CUMULATE it must be the end, because several of its
    windows start together.
    """
    match node:
        case Calc():
            below = (p.source for p in node.projections if p.field.name in names)
            return _identifies_windows(node.input, frozenset(filter(None, below)))
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
