"""EXPLAIN PLAN_ADVICE: what a plan costs that another script, or a setting, would save."""

from __future__ import annotations

from collections.abc import Iterator

from streamtable.core.settings import STATE_TTL
from streamtable.plan.arrival_nodes import ArrivalDeduplicate
from streamtable.plan.deduplicate_node import Deduplicate
from streamtable.plan.keys import is_single, unique_keys
from streamtable.plan.nodes import GroupAggregate, Node, Root, Sink
from streamtable.plan.source_nodes import Key, Normalize, Scan
from streamtable.plan.stateful_nodes import Join, Materialize, TopN

#: What Flink prints where there is nothing to say.
NO_ADVICE = "No available advice..."


def advice(plan: Root) -> str:
    """The advice on a plan, a line each, numbered as Flink numbers it.

    Args:
        plan: of an INSERT or a SELECT.
    """
    of_sink = _of_sink(plan) if isinstance(plan, Sink) else ()
    found = list(dict.fromkeys([*of_sink, *_of_tree(plan.input)]))
    if not found:
        return NO_ADVICE
    return "\n".join(f"advice[{n}]: [ADVICE] {text}" for n, text in enumerate(found, start=1))


def _of_sink(sink: Sink) -> Iterator[str]:
    writes = sink.table.connector.writes
    upserts = not writes.is_append and not writes.has_before
    if upserts and sink.input.mode.is_append:
        yield (
            f"{sink.table.name}: the query only inserts, so each row replaces the earlier one of"
            " its key; use connector 'kafka' to keep them all."
        )


def _of_tree(node: Node) -> Iterator[str]:
    yield from _of_node(node)
    yield from _of_growth(node)
    for child in node.inputs:
        yield from _of_tree(child)


def _of_node(node: Node) -> Iterator[str]:
    match node:
        case Materialize():
            yield _of_materialize(node)
        case Normalize():
            yield (
                f"an operator needs the rows of {node.input.table.name} as they were before an"
                f" update, so a ChangelogNormalize keeps one row per {_listed(node.key)}."
            )
        case Join() if not node.keys and not any(is_single(side, ()) for side in node.inputs):
            yield (
                "a join has no equality between a column of each input, so one task holds both and"
                " compares every row with every other; add an equality."
            )
        case TopN() if not node.input.mode.is_append:
            yield (
                "a TopN keeps every row of its input, not only the first ones, because rows of it"
                " may be taken back."
            )
        case _:
            return


def _of_materialize(node: Materialize) -> str:
    key, known = _listed(node.key), unique_keys(node.input)
    if node.key in known:
        return (
            f"a row of key {key} may move from one task of a join to another, so a Materialize"
            " keeps every row of the result to put its changes in order; a join on columns of that"
            " key needs no such state."
        )
    return (
        f"the sink's key {key} is not the key of the query's rows"
        f" ({' or '.join(map(_listed, known)) or 'none'}), so a Materialize keeps every row of the"
        " result; a primary key of the sink that is the query's needs no such state."
    )


def _of_growth(node: Node) -> Iterator[str]:
    """State that grows with the history of an input that never takes a row back."""
    ttl = f"'{STATE_TTL.key}' is 0, so that it never expires"
    match node:
        case GroupAggregate() if node.keys and node.input.mode.is_append and node.ttl is None:
            yield f"the state of the groups by {_listed(node.keys)} only grows, and {ttl}."
        case ArrivalDeduplicate() | Deduplicate() if node.partition and node.ttl is None:
            by = _listed(node.partition)
            yield f"a Deduplicate remembers every {by} that has come, and {ttl}."
        case Join():
            for child, limit in zip(node.inputs, (node.left_ttl, node.right_ttl), strict=True):
                if child.mode.is_append and limit is None:
                    names = ", ".join(sorted(_tables(child))) or "a list of values"
                    yield f"a join keeps every row of {names}, which only grow, and {ttl}."
        case _:
            return


def _tables(node: Node) -> set[str]:
    if isinstance(node, Scan):
        return {node.table.name}
    return {name for child in node.inputs for name in _tables(child)}


def _listed(key: Key) -> str:
    return f"({', '.join(key)})"
