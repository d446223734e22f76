"""What a job asks of its cluster before the first query starts."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from streamtable.core.options import Settings
from streamtable.core.settings import (
    CHECKPOINT_INTERVAL,
    EXECUTION_MODE,
    RESTORE_SINKS,
    ExecutionMode,
)
from streamtable.operators.context import LoweringContext
from streamtable.plan.nodes import Sink
from streamtable.runtime.access import check_access
from streamtable.runtime.checkpoint import Checkpoint
from streamtable.runtime.modes import DEFAULT_INTERVAL
from streamtable.runtime.preflight import Notice, preflight
from streamtable.runtime.restoring import safe_lag
from streamtable.runtime.topic_ids import check_topic_ids
from streamtable.runtime.transactions import abort_orphans, check_transactions


def make_ready(
    plans: Mapping[str, Sink], context: LoweringContext, checkpoint: Checkpoint, notice: Notice
) -> Mapping[str, str]:
    """Looks at all that could be refused, and only then creates topics that are missing.

    Args:
        plans: the queries, by their names.
        context: the job's choices.
        checkpoint: the job's.
        notice: takes one line for the user.

    Returns:
        Kafka's ids of the topics of all scans, by their names.

    Raises:
        StreamtableError: what the cluster lacks, or the user may not do there.
    """
    bridge = context.bridge
    missing = preflight(
        plans.values(),
        bridge,
        notice,
        bounded=context.bounded,
        first_run=checkpoint.is_new,
        lag=_lag(context.settings),
    )
    check_transactions(plans, bridge)
    check_access(plans, missing, bridge)
    topic_ids = check_topic_ids(plans.values(), checkpoint, bridge, notice)
    for topic in missing:
        topic.create(bridge)
    abort_orphans(plans, bridge, notice)
    return topic_ids


def _lag(settings: Settings) -> timedelta | None:
    """How long records of new sink topics are safe from compaction; None for the brokers' own."""
    taken_back = (
        settings[RESTORE_SINKS] and settings[EXECUTION_MODE] is not ExecutionMode.MICRO_BATCH
    )
    # Unchecked, as a run that stays in micro-batches does not go by it.
    return safe_lag(settings.get(CHECKPOINT_INTERVAL) or DEFAULT_INTERVAL) if taken_back else None
