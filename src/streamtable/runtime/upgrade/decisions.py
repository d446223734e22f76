"""Decide for each query of a changed script what an upgrade does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum

from streamtable.connector_api.endpoints import sink_of
from streamtable.connector_api.sink import SinkFacts
from streamtable.core.identity import identities
from streamtable.plan.node import Node
from streamtable.plan.rules.state_ttl import expiring_nodes
from streamtable.plan.rules.tree import every
from streamtable.plan.sink.sink import Sink
from streamtable.runtime.checkpoint.assignment import Assignment
from streamtable.runtime.checkpoint.manifest import RecordedQuery
from streamtable.runtime.checkpoint.shapes import Operator, operator
from streamtable.runtime.endpoints import lookups_of
from streamtable.runtime.upgrade.extension import Extension
from streamtable.runtime.upgrade.ranges import ReadRange


class Action(Enum):
    """What an upgrade does with a query."""

    #: Nothing: the query continues.
    KEPT = "kept"
    #: The query starts with the next run.
    ADDED = "added"
    #: The query ends with the next run.
    REMOVED = "removed"
    #: The query continues with the state of its groups, and its sink gets the rows that differ.
    EXTENDED = "extended"
    #: The query reads its input again, and its sink gets the rows that differ.
    REBUILT = "rebuilt"
    #: The query cannot be rebuilt.
    IMPOSSIBLE = "impossible"
    #: The query continues with its state; the rows of its sink stay.
    CONTINUED = "from now, with its state"
    #: The same, where aggregates start empty; the rows of a sink that cannot be rewritten stay.
    EXTENDED_NOW = "extended, from now"
    #: The query starts with empty state where it stopped; the rows of its sink stay.
    ANEW = "from now, without state"
    #: The query of a new checkpoint reads its input, and its sink gets the rows that differ.
    ADOPTED = "adopted"
    #: The query of a new checkpoint reads its input for its state; the rows of its sink stay.
    BUILT = "state only"


#: Actions that continue with the state of the old query in a new directory.
EXTENDING = (Action.EXTENDED, Action.EXTENDED_NOW)


@dataclass(frozen=True)
class Decision:
    """What an upgrade does with one query, and why."""

    query: str
    action: Action
    reason: str


def line_of(decision: Decision) -> str:
    """Return the line of a decision for the user."""
    return f"{decision.query}: {decision.action.value}: {decision.reason}"


def unchanged(queries: Assignment) -> Iterator[Decision]:
    """Yield the decisions on the queries that need no rebuild, in the order of the script."""
    for name in queries.plans:
        if name in queries.changed:
            continue
        if name in queries.added:
            reason = "starts with the next run, at the startup positions of its tables"
            yield Decision(name, Action.ADDED, reason)
        elif name in queries.restored:
            yield Decision(name, Action.ADDED, "continues at its last commit with the next run")
        else:
            yield Decision(name, Action.KEPT, "continues")
    for name, old in queries.removed.items():
        table = old.table_or(name)
        rebuilt = any(queries.records[other].table == table for other in queries.changed)
        rows = f"rows of {table} that the rebuilt query lacks are deleted"
        reason = f"ends with the next run; {rows if rebuilt else f'its rows stay in {table}'}"
        yield Decision(name, Action.REMOVED, reason)


def changed(
    queries: Assignment,
    facts: Mapping[str, SinkFacts],
    ranges: Mapping[str, ReadRange],
    extensions: Mapping[str, Extension | None],
    *,
    from_now: bool,
) -> Iterator[Decision]:
    """Yield the decisions on the changed queries.

    Args:
        queries: the queries of the script.
        facts: facts of all sinks.
        ranges: what a rebuild of each changed query would read.
        extensions: how each changed query continues with the state of its groups, if it can.
        from_now: whether a query that cannot be rebuilt may continue without.
    """
    for name, old in queries.changed.items():
        now, plan = queries.records[name], queries.plans[name]
        why = old.difference(name, now) or ""
        obstacle = rebuild_obstacle(plan, facts[name]) or ranges[name].lost
        found = extensions[name]
        if found and found.is_complete and rewrite_obstacle(plan, facts[name]) is None:
            yield Decision(name, Action.EXTENDED, why)
        elif obstacle is None:
            yield Decision(name, Action.REBUILT, why)
        elif not from_now:
            yield Decision(name, Action.IMPOSSIBLE, f"{why}; {obstacle}")
        elif (now.shared is None or now.number is not None) and keeps_state(old, now):
            yield Decision(name, Action.CONTINUED, why)
        elif found and (found.is_complete or not found.retracting):
            yield Decision(name, Action.EXTENDED_NOW, why + _begin_empty(found))
        elif found:
            reason = f"{why}; rows that {found.added[0]} has not added may be retracted from it"
            yield Decision(name, Action.ANEW, reason)
        else:
            yield Decision(name, Action.ANEW, why)


def _begin_empty(found: Extension) -> str:
    starts = "starts" if len(found.added) == 1 else "start"
    return f"; {', '.join(found.added)} {starts} empty" if found.added else ""


def rewrite_obstacle(plan: Sink, facts: SinkFacts) -> str | None:
    """Return why the rows of a sink cannot be replaced; None if they can."""
    return sink_of(plan.table).rewrite_obstacle(facts)


def rebuild_obstacle(plan: Sink, facts: SinkFacts) -> str | None:
    """Return why a plan does not give the same rows when its input is read again; None if it does.

    Args:
        plan: the plan.
        facts: facts for its sink.
    """
    return rewrite_obstacle(plan, facts) or replay_obstacle(plan)


def replay_obstacle(plan: Sink) -> str | None:
    """Return why the state of a plan depends on more than its input; None if it does not."""
    for node in every(plan.input):
        if node.by_processing_time:
            return f"the results of {node.title} depend on the time at which records arrive"
    for lookup in lookups_of([plan]):
        return f"rows of {lookup.table} are looked up as they are now"
    for node in expiring_nodes(plan.input):
        return f"the state of {node.title} expires by the clock"
    return None


def keeps_state(old: RecordedQuery, now: RecordedQuery) -> bool:
    """Whether a plan can use the offsets and the state of another one.

    It can if both have the same stateful operators with all that is below them, and read the same
    tables elsewhere; projections, filters and the sink above may differ.
    """
    if old.shape is None or now.shape is None or old.state != now.state:
        return False
    if old.other_metadata(now):
        return False
    stateful = _stateful()
    return _lower_part(operator(old.shape), stateful) == _lower_part(operator(now.shape), stateful)


def _lower_part(top: Operator, stateful: frozenset[str]) -> list[object]:
    """Return the topmost stateful operators, and the tables that are read without state above."""
    if top.id in stateful:
        return [top]
    if not top.inputs:
        return [(top.id, top.own.get("table", top.own))]
    return [part for child in top.inputs for part in _lower_part(child, stateful)]


def _stateful() -> frozenset[str]:
    return frozenset(
        known.id
        for cls, known in identities().items()
        if issubclass(cls, Node) and getattr(cls, "state", None) is not None
    )
