"""Queries that write the same target, such as a topic: only together do they give its rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from streamtable.connector_api.endpoints import sink_of
from streamtable.plan.sink.sink import Sink
from streamtable.runtime.checkpoint.assignment import Assignment


def companions(queries: Assignment) -> Mapping[str, str]:
    """Return the unchanged queries whose rows are in the target of a changed query.

    Returns:
        name of the unchanged query -> name of the changed query. A query that no run has had yet
        is not in it, because it has no rows.
    """
    by_target = {target_of(queries.plans[name]): name for name in queries.changed}
    found = {name: by_target.get(target_of(plan)) for name, plan in queries.plans.items()}
    return {
        name: other
        for name, other in found.items()
        if other is not None and name not in queries.changed and name not in queries.added
    }


def by_target(names: Iterable[str], plan_of: Callable[[str], Sink]) -> Sequence[Sequence[str]]:
    """Return the names of queries in groups that write one target, in the order of the names."""
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(target_of(plan_of(name)), []).append(name)
    return list(groups.values())


def target_of(plan: Sink) -> str:
    """Return the target of a query; queries with the same target share it."""
    return sink_of(plan.table).target


def words_of(plan: Sink) -> str:
    """Return the target of a query in words, such as `topic 'orders'`."""
    sink = sink_of(plan.table)
    return f"{sink.target_noun} '{sink.target}'"
