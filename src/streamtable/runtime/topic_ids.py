"""Whether the topics of a checkpoint are still the same ones: a name can be given again."""

from __future__ import annotations

from collections.abc import Iterable

from streamtable.connectors.kafka.bounds import topics_of
from streamtable.core.errors import Condition, StreamtableError
from streamtable.jvm.bridge import Bridge
from streamtable.jvm.faults import DATA_LOST_HINT
from streamtable.jvm.kafka_admin import KafkaAdmin
from streamtable.plan.nodes import Sink
from streamtable.runtime.checkpoint import Checkpoint
from streamtable.runtime.preflight import Notice, source_tables


def check_topic_ids(
    plans: Iterable[Sink], checkpoint: Checkpoint, bridge: Bridge, notice: Notice
) -> dict[str, str]:
    """The ids of the topics that are read.

    A topic that was deleted and created again holds other records at the offsets of the checkpoint;
    where it has grown past them, nothing but its id tells.

    Raises:
        StreamtableError: DATA_LOST, unless the table goes on without what is gone.
    """
    found: dict[str, str] = {}
    for table in source_tables(plans):
        admin = KafkaAdmin(bridge, table.properties)
        for topic in topics_of(table, admin):
            id_ = admin.describe(topic).get("id")
            if id_ is None:
                continue
            found[topic] = id_
            before = checkpoint.topic_ids.get(topic)
            if before in (None, id_):
                continue
            error = StreamtableError(
                Condition.DATA_LOST,
                at=table.at,
                table=table.table,
                reason=f"topic '{topic}' was deleted and created again since the last run",
                hint=DATA_LOST_HINT,
            )
            if table.fail_on_data_loss:
                raise error
            notice(str(error))
    return found
