"""Checks of exactly-once sinks, and recovery of transactions that a killed run left open."""

from __future__ import annotations

import re

from streamtable.connector_api.preflight import Preflight
from streamtable.connector_api.sink import SinkFacts
from streamtable.connectors.kafka.cluster.admin import KafkaAdmin
from streamtable.connectors.kafka.table import KafkaTable
from streamtable.connectors.kafka.write.writer import transaction_prefix, transaction_timeout_ms
from streamtable.core.errors import Condition, StreamtableError
from streamtable.jvm.bridge import Bridge

#: A state partition by number, or the input split of a task: reader, topic and partition.
_TASK = re.compile(r"\d+|\d+\.[\w.-]+\.\d+")


def check_transactions(table: KafkaTable, facts: SinkFacts, bridge: Bridge) -> None:
    """Refuse settings that would break transactions or that brokers would not accept.

    Raises:
        StreamtableError: INVALID_OPTION for a timeout above the brokers' limit, OPTION_CONFLICT for
            tasks that may have other rows when a batch runs again.
    """
    if table.transaction_prefix is None:
        return
    _check_tasks(table, facts)
    longest = KafkaAdmin(bridge, table.properties).longest_transaction()
    given = transaction_timeout_ms(table)
    option = "properties.transaction.timeout.ms"
    if not given.isdigit() or int(given) < 1:
        expected = "a number of milliseconds above 0"
    elif longest is not None and int(given) > longest:
        expected = f"at most {longest}, the brokers' 'transaction.max.timeout.ms'"
    else:
        return
    raise StreamtableError(
        Condition.INVALID_OPTION,
        at=table.at,
        option=option,
        value=given,
        expected=expected,
        hint=f"set '{option}' to the duration of the longest batch, or raise the brokers' limit",
    )


def _check_tasks(table: KafkaTable, facts: SinkFacts) -> None:
    """Check that a task has the same rows when a batch runs again.

    A partition of the source or of the state identifies the task. A task of several partitions may
    get other partitions in the next run.
    """
    option, reason = "sink.parallelism", facts.merge_obstacle(table.sink_tasks)
    if not facts.reads_splits_alone:
        option = "scan.parallelism"
        reason = f"'{option}' lets a task read several partitions"
    if reason is not None:
        raise StreamtableError(
            Condition.OPTION_CONFLICT,
            at=table.at,
            reason=(
                f"{reason}, but {table.table} uses exactly-once, which recognizes the rows of a"
                " task by its partition"
            ),
            hint=f"remove '{option}', or use 'at-least-once'",
        )


def abort_orphans(table: KafkaTable, query: str, preflight: Preflight) -> None:
    """Abort transactions that an earlier run left open: they block read-committed consumers.

    This process owns the checkpoint, so the owner of such a transaction was killed or must no
    longer write.
    """
    if table.transaction_prefix is None:
        return
    admin = KafkaAdmin(preflight.bridge, table.properties)
    prefix = f"{transaction_prefix(table, query)}-"
    # A prefix followed by a task number belongs to this query. A longer prefix belongs to another
    # query.
    ids = [t.id for t in admin.open_transactions(prefix)]
    found = [id_ for id_ in ids if _TASK.fullmatch(id_[len(prefix) :])]
    if found:
        admin.abort_transactions(found)
        preflight.notice(
            f"{table.table}: aborted {len(found)} transactions that an earlier run left open"
        )
