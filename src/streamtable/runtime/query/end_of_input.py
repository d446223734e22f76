"""Drain: open windows and pending rows are emitted at the end of the input.

Flink ends a bounded job with the maximum watermark, so that every window fires and every join emits
its last rows. No later run continues a job that has ended. Streamtable does the same: the last
batch of such a query has the maximum watermark, and its checkpoint accepts no later run, because
new rows would be late compared to the emitted results.
"""

from __future__ import annotations

from collections.abc import Mapping

from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.options import Settings
from streamtable.core.settings.execution import DRAIN
from streamtable.jvm.bridge import Bridge
from streamtable.jvm.streaming.planned_batches import Stage, stage
from streamtable.plan.node import Node
from streamtable.plan.rules.watermarks import waits
from streamtable.plan.sink.sink import Sink
from streamtable.runtime.checkpoint.checkpoint import Checkpoint
from streamtable.runtime.checkpoint.stale_keys import stale_keys_hint


def drains(node: Node, settings: Settings) -> bool:
    """Whether a query emits its open windows and pending rows at the end of a bounded run."""
    return bool(settings[DRAIN]) and waits(node)


def check_not_ended(
    plans: Mapping[str, Sink], checkpoint: Checkpoint, bridge: Bridge, *, bounded: bool
) -> Mapping[str, Stage]:
    """Return for each query of a checkpoint, by name, whether its input has ended.

    Another bounded run may continue a bounded run that was interrupted between the ends of its
    queries.

    Raises:
        StreamtableError: CHECKPOINT_ENDED if the input has ended in an earlier run.
    """
    stages = {
        name: stage(bridge, checkpoint.query_directory(name)) if waits(plan.input) else Stage.OPEN
        for name, plan in plans.items()
    }
    waiting = [stages[name] for name, plan in plans.items() if waits(plan.input)]
    over = bool(waiting) and all(found is Stage.ENDED for found in waiting)
    if over or (not bounded and any(found is not Stage.OPEN for found in waiting)):
        raise StreamtableError(
            Condition.CHECKPOINT_ENDED,
            checkpoint=str(checkpoint.directory),
            hint=(
                "its open windows and joins have been emitted; use a new --checkpoint, with SET"
                f" '{DRAIN.key}' = 'false' for a series of bounded runs{stale_keys_hint(plans)}"
            ),
        )
    return stages
