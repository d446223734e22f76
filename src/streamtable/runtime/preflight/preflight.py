"""Checks of sources and sinks before a job starts: connection, existence, access, schema."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from streamtable.connector_api.endpoints import sink_of
from streamtable.connector_api.preflight import Notice, Preflight, Resource
from streamtable.connector_api.sink import Sink as SinkEndpoint
from streamtable.connector_api.sink import SinkFacts
from streamtable.core.errors import Condition, StreamtableError
from streamtable.jvm.bridge import Bridge
from streamtable.plan.rules.tree import every
from streamtable.plan.sink.sink import Root, Sink
from streamtable.runtime.endpoints import lookups_of, sources_of


def examine_sinks(
    plans: Mapping[str, Sink], facts: Mapping[str, SinkFacts], preflight: Preflight
) -> list[Resource]:
    """Check every sink, and return the resources to create, each once.

    Raises:
        StreamtableError: errors of a sink.
    """
    found: dict[str, Resource] = {}
    for name, plan in plans.items():
        for resource in sink_of(plan.table).examine(facts[name], preflight):
            found.setdefault(resource.place, resource)
        if any(node.compares_all for node in every(plan.input)):
            preflight.notice(
                f"{plan.table.name}: a join in the query has no equality between a column of"
                " each input, so one task holds both inputs and compares every pair of rows"
            )
    return list(found.values())


def check_places(plans: Mapping[str, Sink], bridge: Bridge) -> None:
    """Refuse two INSERTs that write one target at addresses that look like two systems.

    Rows of such INSERTs would be compared, and rolled back, as rows of two targets.

    Raises:
        StreamtableError: OPTION_CONFLICT; an error of a sink.
    """
    known: dict[str, SinkEndpoint] = {}
    sinks = [sink_of(plan.table) for plan in plans.values()]
    for sink in sinks:
        if all(other.place == sink.place for other in sinks if other.target == sink.target):
            continue
        other = known.setdefault(sink.place_there(bridge), sink)
        if other.place != sink.place:
            raise StreamtableError(
                Condition.OPTION_CONFLICT,
                at=sink.at,
                reason=(
                    f"{other.table} and {sink.table} write {sink.target_noun} '{sink.target}' of"
                    " one system at different addresses"
                ),
                hint="give both tables the same addresses, in any order",
            )


def examine_sources(plans: Iterable[Root], preflight: Preflight) -> list[Resource]:
    """Check every source and lookup, and return the additional resources to create.

    Raises:
        StreamtableError: errors of a source or a lookup.
    """
    plans = list(plans)
    for lookup in lookups_of(plans):
        lookup.examine(preflight)
    found: dict[str, Resource] = {}
    for source in sources_of(plans):
        for resource in source.examine(preflight):
            found.setdefault(resource.place, resource)
    return list(found.values())


def check_all(
    plans: Mapping[str, Sink],
    facts: Mapping[str, SinkFacts],
    missing: Iterable[Resource],
    preflight: Preflight,
) -> None:
    """Run the checks that need the list of missing resources, and check that these can be created.

    Raises:
        StreamtableError: a source or sink denies access or does not accept the query.
    """
    missing = list(missing)
    to_create = preflight.to_create | {resource.place for resource in missing}
    preflight = replace(preflight, to_create=to_create)
    for source in sources_of(plans.values()):
        source.check_access(preflight)
    for resource in missing:
        resource.check()
    for name, plan in plans.items():
        sink_of(plan.table).check(facts[name], preflight)


__all__ = ["Notice", "check_all", "check_places", "examine_sinks", "examine_sources"]
