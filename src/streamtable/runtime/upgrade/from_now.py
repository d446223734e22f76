"""Continue a query from now: what its sink keeps, and what its state lacks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from streamtable.connector_api.connector import Readable
from streamtable.connector_api.endpoints import source_of
from streamtable.connector_api.source import Split
from streamtable.jvm.bridge import Bridge
from streamtable.operators.context import LoweringContext
from streamtable.plan.sink.sink import Sink
from streamtable.runtime.checkpoint.from_now import FromNow, Lacks
from streamtable.runtime.checkpoint.recorded_query import RecordedQuery
from streamtable.runtime.upgrade.decisions import Action
from streamtable.runtime.upgrade.mark import Work

#: What the state lacks after each action that continues from now.
LACKS = {
    Action.CONTINUED: Lacks.NOTHING,
    Action.EXTENDED_NOW: Lacks.VALUES,
    Action.ANEW: Lacks.ROWS,
}


def noted(record: RecordedQuery, action: Action) -> RecordedQuery:
    """Return the record of an upgraded query with what it lacks of earlier records.

    Args:
        record: the record of the new query, with `from_now` of the old one.
        action: what the upgrade does with the query.
    """
    before = record.from_now
    if action in LACKS:
        lacks = LACKS[action]
        if action is Action.CONTINUED and before is not None:
            lacks = before.lacks
        return replace(record, from_now=FromNow(lacks))
    if action is Action.EXTENDED and before is not None and before.lacks is Lacks.VALUES:
        return replace(record, from_now=FromNow(Lacks.VALUES))
    return replace(record, from_now=None)


def settle(work: Work, plan: Sink, context: LoweringContext) -> Work:
    """Note what the sink of a query keeps.

    A repeated call changes nothing.

    Args:
        work: the upgrade of the query.
        plan: the new plan.
        context: context of the upgrade.
    """
    found = work.record.from_now
    if found is None or work.action is not Action.ANEW or found.ends is not None:
        return work
    kept = replace(found, ends=_ends(plan, context.bridge))
    return replace(work, record=replace(work.record, from_now=kept))


def _ends(plan: Sink, bridge: Bridge) -> Mapping[Split, int] | None:
    """Return the current end of each split of a sink; None if it cannot be read."""
    if not isinstance(plan.table.connector, Readable):
        return None
    return source_of(plan.table).ends_of(None, bridge)
