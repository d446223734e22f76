"""Checks of a job's sources and sinks, and creation of missing targets, before the first query."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from streamtable.connector_api.endpoints import sink_of
from streamtable.connector_api.preflight import Notice, Preflight, Resource
from streamtable.connector_api.sink import SinkFacts
from streamtable.operators.context import LoweringContext
from streamtable.plan.sink.sink import Sink
from streamtable.runtime.checkpoint.checkpoint import Checkpoint
from streamtable.runtime.checkpoint.identities import check_identities, identities_of
from streamtable.runtime.preflight.preflight import (
    check_all,
    check_places,
    examine_sinks,
    examine_sources,
)


def make_ready(
    plans: Mapping[str, Sink],
    facts: Mapping[str, SinkFacts],
    context: LoweringContext,
    checkpoint: Checkpoint,
    notice: Notice,
) -> Mapping[str, str]:
    """Check everything that can be refused, then create the missing resources.

    Args:
        plans: the queries, by their names.
        facts: facts for the sinks about their queries.
        context: the job's lowering context.
        checkpoint: the job's checkpoint.
        notice: takes one line for the user.

    Returns:
        Ids of the resources that the job reads, by their names.

    Raises:
        StreamtableError: a source or sink is missing something, or denies access.
    """
    preflight = Preflight(
        context.bridge, context.settings, notice, bounded=context.bounded, first_run=False
    )

    def starts(first: Collection[str]) -> list[tuple[Mapping[str, Sink], Preflight]]:
        """Return the queries that do not start for the first time, and those that do."""
        groups = [
            ({n: plan for n, plan in plans.items() if (n in first) is is_first}, is_first)
            for is_first in (False, True)
        ]
        return [(own, replace(preflight, first_run=is_first)) for own, is_first in groups if own]

    writing = starts(checkpoint.queries.added)
    reading = starts([name for name in plans if checkpoint.reads_first(name)])
    check_places(plans, context.bridge)
    missing: dict[str, Resource] = {}
    for own, checks in writing:
        missing |= {r.place: r for r in examine_sinks(own, facts, checks)}
    for own, checks in reading:
        to_create = replace(checks, to_create=frozenset(missing))
        for resource in examine_sources(own.values(), to_create):
            missing.setdefault(resource.place, resource)
    for own, checks in writing:
        check_all(own, facts, missing.values(), checks)
    check_identities(plans, checkpoint, context.bridge, notice)
    for resource in missing.values():
        resource.create()
    for name, plan in plans.items():
        sink_of(plan.table).recover(facts[name], preflight)
    return identities_of(plans.values(), context.bridge)


def check_ready(
    plans: Mapping[str, Sink],
    facts: Mapping[str, SinkFacts],
    context: LoweringContext,
    notice: Notice,
    *,
    first_run: bool = False,
) -> None:
    """Run the checks of `make_ready` for queries, and change nothing.

    Args:
        plans: the queries, by their names.
        facts: facts for the sinks about their queries.
        context: the lowering context.
        notice: takes one line for the user.
        first_run: whether no run has read or written for the queries yet.

    Raises:
        StreamtableError: a source or sink is missing something, or denies access.
    """
    preflight = Preflight(
        context.bridge,
        context.settings,
        notice,
        context.bounded,
        first_run=first_run,
        read_only=True,
    )
    check_places(plans, context.bridge)
    missing = examine_sinks(plans, facts, preflight)
    to_create = replace(preflight, to_create=frozenset(r.place for r in missing))
    missing += examine_sources(plans.values(), to_create)
    check_all(plans, facts, missing, preflight)
