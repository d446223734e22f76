"""Check the access rights of a table's user before the job starts.

| Table | Required rights |
|---|---|
| source | READ of its topics; READ of its group, if the table commits offsets to a group |
| sink | WRITE of its topic, or CREATE if the topic does not exist |
| exactly-once sink | WRITE of transactional ids; READ of the groups with its prefix; READ of |
| | its topic, because these groups store the epochs under the name of the topic |
| with dead letters | WRITE of the dead-letter topic, or CREATE |

In Kafka, each of these rights implies DESCRIBE.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from streamtable.connector_api.preflight import Preflight
from streamtable.connectors.kafka.cluster.admin import KafkaAdmin
from streamtable.connectors.kafka.read.bounds import topics_of
from streamtable.connectors.kafka.table import KafkaTable
from streamtable.connectors.kafka.write.writer import transaction_prefix
from streamtable.core.errors import StreamtableError


def check_source_access(table: KafkaTable, preflight: Preflight) -> None:
    """Check that the user may read the table, as far as the brokers report it.

    Raises:
        StreamtableError: ACCESS_DENIED, at the table.
    """
    admin, to_create = KafkaAdmin(preflight.bridge, table.properties), preflight.to_create
    with _at(table):
        for topic in topics_of(table, admin):
            if not _is_new(topic, admin, to_create):
                admin.check_access(topic, "READ")
        if table.group_id is not None and table.commits_offsets:
            admin.check_group(table.group_id)
        letters = table.dead_letter_topic
        if letters is not None and not _is_new(letters, admin, to_create):
            admin.check_access(letters, "WRITE")


def check_sink_access(table: KafkaTable, query: str, preflight: Preflight) -> None:
    """Check that the user may write the table, as far as the brokers report it.

    Raises:
        StreamtableError: ACCESS_DENIED, at the table.
    """
    admin, there = KafkaAdmin(preflight.bridge, table.properties), table.topics[0]
    with _at(table):
        is_new = _is_new(there, admin, preflight.to_create)
        if not is_new:
            admin.check_access(there, "WRITE")
        prefix = transaction_prefix(table, query)
        if prefix is not None:
            if not is_new:
                admin.check_access(there, "READ")
            admin.check_group(f"{prefix}-0")
            # Kafka has no request that checks WRITE of a transactional id. Aborting its
            # transactions requires the same right. No task uses this id, so the abort disturbs no
            # task.
            admin.abort_transactions([f"{prefix}-access"])


def _is_new(topic: str, admin: KafkaAdmin, to_create: frozenset[str]) -> bool:
    """Whether the job itself will create a topic."""
    return bool(to_create) and admin.place_of(topic) in to_create


@contextmanager
def _at(table: KafkaTable) -> Iterator[None]:
    try:
        yield
    except StreamtableError as error:
        raise error if error.at else error.located(table.at) from None
