"""Decide for each query of a changed script what an upgrade does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum

from streamtable.connector_api.endpoints import sink_of
from streamtable.core.identity import identities
from streamtable.plan.node import Node
from streamtable.plan.rules.state_ttl import expiring_nodes
from streamtable.plan.rules.tree import every
from streamtable.plan.sink.sink import Sink
from streamtable.runtime.checkpoint.assignment import Assignment
from streamtable.runtime.checkpoint.manifest.recorded_query import RecordedQuery
from streamtable.runtime.checkpoint.manifest.shapes import Operator, operator
from streamtable.runtime.endpoints import by_target, lookups_of, words_of
from streamtable.runtime.upgrade.extension import Extension
from streamtable.runtime.upgrade.ranges import ReadRange
from streamtable.runtime.upgrade.together import companions


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
    together = companions(queries)
    for name in queries.plans:
        if name in queries.changed or name in together:
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
    ranges: Mapping[str, ReadRange],
    extensions: Mapping[str, Extension | None],
    *,
    from_now: bool,
) -> Iterator[Decision]:
    """Yield the decisions on the changed queries, and on those that write the same targets.

    Args:
        queries: the queries of the script.
        ranges: what a rebuild of each of these queries would read.
        extensions: how each of them continues with the state of its groups, if it can.
        from_now: whether a query that cannot be rebuilt may continue without.
    """
    together = companions(queries)
    concerned = [name for name in queries.plans if name in queries.changed or name in together]
    own = {n: _obstacle(queries.plans[n], ranges[n], extensions[n]) for n in concerned}
    obstacles = of_all(own, queries.plans)
    for name in concerned:
        obstacle, found = obstacles[name], extensions[name]
        if name in together and obstacle is not None:
            yield Decision(name, Action.KEPT, "continues")
            continue
        if name in together:
            target = words_of(queries.plans[name])
            why = f"writes to {target}, as {together[name]} does, which was changed"
            yield Decision(name, _rewriting(found), why)
            continue
        old, now = queries.changed[name], queries.records[name]
        why = old.difference(name, now) or ""
        if obstacle is None:
            yield Decision(name, _rewriting(found), why)
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


def of_all(
    obstacles: Mapping[str, str | None], plans: Mapping[str, Sink]
) -> Mapping[str, str | None]:
    """Return the obstacle of each query, or else that of a query with the same target.

    Args:
        obstacles: why the rows of each query cannot be computed again; None if they can.
        plans: the plans of these queries.
    """
    found = dict(obstacles)
    for group in by_target(obstacles, plans.__getitem__):
        first = next((name for name in group if obstacles[name] is not None), None)
        for name in group:
            if first is not None and found[name] is None:
                target = words_of(plans[name])
                found[name] = f"{first} writes to {target}, too, and {obstacles[first]}"
    return found


def _obstacle(plan: Sink, of_range: ReadRange, found: Extension | None) -> str | None:
    """Return why neither state nor input gives the rows of a query; None if one of them does."""
    if _rewriting(found) is Action.EXTENDED:
        return rewrite_obstacle(plan)
    return rebuild_obstacle(plan) or of_range.lost


def _rewriting(found: Extension | None) -> Action:
    return Action.EXTENDED if found and found.is_complete else Action.REBUILT


def _begin_empty(found: Extension) -> str:
    starts = "starts" if len(found.added) == 1 else "start"
    return f"; {', '.join(found.added)} {starts} empty" if found.added else ""


def rewrite_obstacle(plan: Sink) -> str | None:
    """Return why the rows of a sink cannot be replaced; None if they can."""
    return sink_of(plan.table).rewrite_obstacle()


def rebuild_obstacle(plan: Sink) -> str | None:
    """Return why a plan does not give the same rows from the same input; None if it does."""
    return rewrite_obstacle(plan) or replay_obstacle(plan)


def replay_obstacle(plan: Sink) -> str | None:
    """Return why the state of a plan depends on more than its input; None if it does not."""
    for node in every(plan.input):
        if node.by_arrival:
            return f"the results of {node.title} depend on the arrival of records"
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
    if not old.reads_alike(now):
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
