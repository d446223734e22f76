"""Sources, lookups and sinks of a job, and the facts that sinks get about their queries."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from streamtable.connector_api.endpoints import lookup_of, sink_of, source_of
from streamtable.connector_api.lookup import Lookup
from streamtable.connector_api.sink import SinkFacts
from streamtable.connector_api.source import Source
from streamtable.core.checkpoint_path import CheckpointPath
from streamtable.core.settings.execution import ADJUST_SINKS, CHECKPOINT_INTERVAL, RESTORE_SINKS
from streamtable.core.settings.session import DEFAULT_INTERVAL
from streamtable.core.table import Table
from streamtable.jvm.faults import Explain
from streamtable.plan.join.connector_lookup_join import lookup_joins
from streamtable.plan.rules.replay import replay_may_differ
from streamtable.plan.sink.replacing import replaces_inserts
from streamtable.plan.sink.sink import Root, Sink
from streamtable.plan.source.scan import scans, unkept_scans
from streamtable.runtime.checkpoint.manifest.recorded_query import UNRECORDED, RecordedQuery


def sources_of(
    plans: Iterable[Root], source_of: Callable[[Table], Source] = source_of
) -> list[Source]:
    """Return every source of the plans once.

    A table that a hint gives other options counts as another source.

    Args:
        plans: the plans.
        source_of: returns the source of a table.
    """
    found: list[Source] = []
    for plan in plans:
        for scan in scans(plan.input):
            source = source_of(scan.table)
            if source not in found:
                found.append(source)
    return found


def lookups_of(plans: Iterable[Root]) -> list[Lookup]:
    """Return every lookup of the plans once."""
    found: list[Lookup] = []
    for plan in plans:
        for join in lookup_joins(plan.input):
            lookup = lookup_of(join.looked_up)
            if lookup not in found:
                found.append(lookup)
    return found


def explains(plans: Sequence[Root]) -> list[Explain]:
    """Return the functions that explain exceptions of sources, lookups and sinks."""
    sinks = [sink_of(plan.table) for plan in plans if isinstance(plan, Sink)]
    return [
        *(s.explain for s in sources_of(plans)),
        *(lookup.explain for lookup in lookups_of(plans)),
        *(s.explain for s in sinks),
    ]


def by_target(names: Iterable[str], plan_of: Callable[[str], Sink]) -> Sequence[Sequence[str]]:
    """Return the names of queries in groups that write one target, in the order of the names."""
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(target_of(plan_of(name)), []).append(name)
    return list(groups.values())


def target_of(plan: Sink) -> str:
    """Return the target of a query; queries with the same target share it."""
    return sink_of(plan.table).place


def words_of(plan: Sink) -> str:
    """Return the target of a query in words, such as `topic 'orders'`."""
    sink = sink_of(plan.table)
    return f"{sink.target_noun} '{sink.target}'"


def several_tables(plans: Iterable[Sink]) -> str | None:
    """Return why the rows of a target cannot be decoded by one table; None if they can.

    Args:
        plans: all queries that write the target.
    """
    written = {plan.table.name: plan for plan in plans}
    if len(written) == 1:
        return None
    target = words_of(next(iter(written.values())))
    return f"{target} is declared as {' and as '.join(sorted(written))}"


def sink_facts(
    plans: Mapping[str, Sink],
    id_of: Callable[[str], str],
    directory_of: Callable[[str], CheckpointPath],
    record_of: Callable[[str], RecordedQuery] = lambda _: UNRECORDED,
) -> dict[str, SinkFacts]:
    """Return the facts that each sink gets about its query, by the name of the query.

    Args:
        plans: by the names of the queries.
        id_of: maps the name of a query to the id in which its epochs are numbered.
        directory_of: maps the name of a query to the query's checkpoint directory.
        record_of: maps the name of an INSERT to its record.
    """
    targets = {name: target_of(plan) for name, plan in plans.items()}
    found = {}
    for name, plan in plans.items():
        read = [source_of(scan.table) for scan in unkept_scans(plan.input)]
        record, directory = record_of(name), directory_of(name)
        shared = record.shared
        found[name] = SinkFacts(
            query=name if shared is None else shared.name,
            job=id_of(name),
            directory=directory,
            positions=record.positions(directory),
            mode=plan.input.mode,
            replaces_inserts=replaces_inserts(plan),
            replays=not replay_may_differ(plan.input),
            reads_splits_alone=all(source.reads_splits_alone for source in read),
            stateless_scans=bool(read),
            # Not checked: a job that stays in micro-batches does not use the interval.
            interval=plan.settings.get(CHECKPOINT_INTERVAL) or DEFAULT_INTERVAL,
            rolls_back=plan.settings[RESTORE_SINKS],
            adjusts=plan.settings[ADJUST_SINKS],
            targets={other: target for other, target in targets.items() if other != name},
            writer_id=None if shared is None else shared.writer_id,
        )
    return found
