"""What the end of the input does to operators that wait for a watermark.

Flink ends a bounded job with a watermark above every moment, so that every window fires and every
join gives its last rows; no one goes on with a job that has ended. So here: the last batch of such
a query has that watermark, and its checkpoint takes no later run, because rows that came then would
be late for all that has been given.
"""

from __future__ import annotations

from collections.abc import Mapping

from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.options import Settings
from streamtable.core.settings import DRAIN
from streamtable.jvm.bridge import Bridge
from streamtable.jvm.planned_batches import Stage, stage
from streamtable.plan.nodes import Node, Sink
from streamtable.plan.time_attributes import waits
from streamtable.runtime.checkpoint import Checkpoint


def drains(node: Node, settings: Settings) -> bool:
    """Whether the end of a bounded run gives what a query still waits to give."""
    return bool(settings[DRAIN]) and waits(node)


def check_not_ended(
    plans: Mapping[str, Sink], checkpoint: Checkpoint, bridge: Bridge, *, bounded: bool
) -> Mapping[str, Stage]:
    """How far each query of a checkpoint has come to its end, by its name.

    A bounded run that was broken off between the ends of its queries may be taken up by another.

    Raises:
        StreamtableError: CHECKPOINT_ENDED where the input has ended in an earlier run.
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
                "its windows and joins have given what was open; begin a new --checkpoint, and"
                f" there SET '{DRAIN.key}' = 'false' where bounded runs are to follow each other"
            ),
        )
    return stages
