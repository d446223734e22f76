"""Whether the users of a job's tables may do what the job will do, asked before it does anything.

| Table | Needs |
|---|---|
| read | READ of its topics; READ of its group where it names one |
| written | WRITE of its topic, or CREATE where the topic is not there |
| exactly-once | WRITE of transactional ids, READ of groups that begin with its prefix, and READ |
| | of its topic, under whose name the groups keep what was written |
| with dead letters | WRITE of their topic, or CREATE |

Brokers imply DESCRIBE by each of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from streamtable.connectors.kafka.bounds import topics_of
from streamtable.connectors.kafka.sink import transaction_prefix
from streamtable.connectors.kafka.table import KafkaTable
from streamtable.core.errors import StreamtableError
from streamtable.jvm.bridge import Bridge
from streamtable.jvm.kafka_admin import KafkaAdmin
from streamtable.operators.sink import sink_table
from streamtable.plan.nodes import Sink
from streamtable.runtime.preflight import TopicToCreate, source_tables


def check_access(
    plans: Mapping[str, Sink], missing: Sequence[TopicToCreate], bridge: Bridge
) -> None:
    """Returns where nothing is forbidden, as far as the brokers tell.

    Args:
        plans: by the names of the queries.
        missing: topics that will be created.
        bridge: the JVM side.

    Raises:
        StreamtableError: ACCESS_DENIED, at the table.
    """
    coming = {new.topic for new in missing}
    for table in source_tables(plans.values()):
        with _at(table):
            _check_source(table, KafkaAdmin(bridge, table.properties), coming)
    for new in missing:
        with _at(new.table):
            new.check(bridge)
    for query, plan in plans.items():
        table = sink_table(plan)
        with _at(table):
            _check_sink(table, query, KafkaAdmin(bridge, table.properties), coming)


def _check_source(table: KafkaTable, admin: KafkaAdmin, coming: set[str]) -> None:
    for topic in topics_of(table, admin):
        if topic not in coming:
            admin.check_access(topic, "READ")
    if table.group_id is not None:
        admin.check_group(table.group_id)
    if table.dead_letter_topic is not None and table.dead_letter_topic not in coming:
        admin.check_access(table.dead_letter_topic, "WRITE")


def _check_sink(table: KafkaTable, query: str, admin: KafkaAdmin, coming: set[str]) -> None:
    if table.topics[0] not in coming:
        admin.check_access(table.topics[0], "WRITE")
    prefix = transaction_prefix(table, query)
    if prefix is not None:
        if table.topics[0] not in coming:
            admin.check_access(table.topics[0], "READ")
        admin.check_group(f"{prefix}-0")
        # No question tells whether a transactional id may be used; to end its transactions does.
        # No task has this one, so none is disturbed.
        admin.abort_transactions([f"{prefix}-access"])


@contextmanager
def _at(table: KafkaTable) -> Iterator[None]:
    try:
        yield
    except StreamtableError as error:
        raise error if error.at else error.located(table.at) from None
