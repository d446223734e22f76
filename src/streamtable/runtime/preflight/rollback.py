"""Sinks that a job can roll back in real-time mode, and the obstacles of all other sinks."""

from __future__ import annotations

from collections.abc import Mapping

from streamtable.connector_api.endpoints import sink_of
from streamtable.connector_api.sink import SinkFacts
from streamtable.core.settings.execution import RESTORE_SINKS
from streamtable.operators.context import LoweringContext
from streamtable.plan.sink.sink import Sink
from streamtable.runtime.session.configuration import FILES, FILES_KEY


def rollback_obstacles(
    plans: Mapping[str, Sink], facts: Mapping[str, SinkFacts]
) -> dict[str, str | None]:
    """Return for each query why its sink cannot be rolled back, as far as the script shows."""
    off = f"'{RESTORE_SINKS.key}' is off"
    return {
        name: sink_of(plan.table).rollback_obstacle(facts[name])
        if plan.settings[RESTORE_SINKS]
        else off
        for name, plan in plans.items()
    }


def target_rollback_obstacles(
    plans: Mapping[str, Sink], facts: Mapping[str, SinkFacts], context: LoweringContext
) -> dict[str, str]:
    """Return the rollback obstacles that only the checkpoint and the target show, if there are any.

    Args:
        plans: queries that may run in real-time mode, by their names; their targets exist.
        facts: of all queries.
        context: the job's lowering context.
    """
    found = {}
    for name, plan in plans.items():
        if facts[name].replays:
            continue
        if context.spark.conf.get(FILES_KEY) != FILES:
            found[name] = f"'{FILES_KEY}' is not ours"
            continue
        why = sink_of(plan.table).target_rollback_obstacle(facts[name], context.bridge)
        if why is not None:
            found[name] = why
    return found
