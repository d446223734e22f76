"""Continue a query from now: what its sink keeps, and at which records the query begins.

The query begins at the last commit of the old one. Rows that the old query has written after this
commit are rolled back, as at a start of the old query. Where this is not possible, the upgrade is
refused, because both queries would write rows of the same records.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from streamtable.connector_api.connector import Readable
from streamtable.connector_api.endpoints import sink_of, source_of
from streamtable.connector_api.preflight import Notice
from streamtable.connector_api.sink import SinkFacts
from streamtable.connector_api.source import Split
from streamtable.core.settings.execution import ExecutionMode
from streamtable.jvm.bridge import Bridge
from streamtable.jvm.streaming.planned_batches import newest_batch
from streamtable.operators.context import LoweringContext
from streamtable.plan.sink.sink import Sink
from streamtable.runtime.checkpoint.manifest.from_now import FromNow, Lacks
from streamtable.runtime.checkpoint.manifest.recorded_query import RecordedQuery
from streamtable.runtime.query.real_time_mark import is_marked
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


def later_rows(facts: SinkFacts, plan: Sink, context: LoweringContext) -> str | None:
    """Return which rows after the last commit of a query can neither stay nor be rolled back.

    Args:
        facts: facts for the sink about the query so far.
        plan: the new plan.
        context: context of the upgrade.

    Returns:
        the reason in words; None if there are no such rows, or if `settle` removes them.
    """
    folder = facts.directory
    if is_marked(folder):
        rollback = sink_of(plan.table).rollback(facts, context, lambda _: None, keeps=False)
        if rollback is None or not rollback.pending:
            return (
                f"a run of {facts.query} in real-time mode was killed, and"
                f" {plan.table.name} may have rows after its last commit"
            )
    planned = newest_batch(folder / "offsets") > newest_batch(folder / "commits")
    if planned and not sink_of(plan.table).may_repeat:
        return (
            f"{plan.table.name} may have rows of a batch of {facts.query} that is planned and not"
            " committed"
        )
    return None


def settle(
    work: Work, facts: SinkFacts, plan: Sink, context: LoweringContext, notice: Notice
) -> Work:
    """Roll the sink back to the last commit of the query so far, and note what the sink keeps.

    A repeated call changes nothing.

    Args:
        work: the upgrade of the query.
        facts: facts for the sink about the query so far.
        plan: the new plan.
        context: context of the upgrade.
        notice: takes one line for the user.
    """
    rollback = sink_of(plan.table).rollback(facts, context, notice, keeps=False)
    if rollback is not None and rollback.pending:
        rollback.before_start(ExecutionMode.MICRO_BATCH)
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
