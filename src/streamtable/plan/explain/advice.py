"""EXPLAIN PLAN_ADVICE: costs of a plan that another query or another setting would avoid."""

from __future__ import annotations

from collections.abc import Iterator

from streamtable.core.table import Upserting
from streamtable.plan.keys import unique_keys
from streamtable.plan.node import Node
from streamtable.plan.rows.calc import Calc
from streamtable.plan.rules.tree import every
from streamtable.plan.sink.sink import Root, Sink
from streamtable.plan.window.window import WindowKind
from streamtable.plan.window.window_aggregate import WindowAggregate
from streamtable.plan.window.window_top_n import WindowTopN

#: Flink's text if there is no advice.
NO_ADVICE = "No available advice..."


def advice(plan: Root) -> str:
    """Format the advice on a plan, one line each, numbered as in Flink.

    Args:
        plan: plan of an INSERT or a SELECT.
    """
    of_sink = _of_sink(plan) if isinstance(plan, Sink) else ()
    found = list(
        dict.fromkeys([*of_sink, *(text for node in every(plan.input) for text in node.advice())])
    )
    if not found:
        return NO_ADVICE
    return "\n".join(f"advice[{n}]: [ADVICE] {text}" for n, text in enumerate(found, start=1))


def replaces_inserts(sink: Sink) -> bool:
    """Return whether rows of an append-only query replace each other in the sink.

    They do in an upsert table, unless its key contains a unique key of the query, such as the key
    of a window aggregate. In that case no two rows have the same sink key.
    """
    writes = sink.table.connector.writes
    if writes.is_append or writes.has_before or not sink.input.mode.is_append:
        return False
    if any(set(key) <= set(sink.key) for key in unique_keys(sink.input)):
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


def _of_sink(sink: Sink) -> Iterator[str]:
    if replaces_inserts(sink):
        connector = sink.table.connector
        keeps_all = connector.append_connector if isinstance(connector, Upserting) else None
        way_out = f"; use connector '{keeps_all}' to keep all rows" if keeps_all else ""
        yield (
            f"{sink.table.name}: the query is append-only, so each row replaces the previous"
            f" row of its key{way_out}."
        )
