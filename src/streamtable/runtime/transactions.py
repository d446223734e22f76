"""Exactly-once sinks before a job starts: timeouts that brokers take, nothing left open."""

from __future__ import annotations

import re
from collections.abc import Mapping

from streamtable.connectors.kafka.sink import transaction_prefix, transaction_timeout_ms
from streamtable.connectors.kafka.table import KafkaTable
from streamtable.core.errors import Condition, StreamtableError
from streamtable.jvm.bridge import Bridge
from streamtable.jvm.kafka_admin import KafkaAdmin
from streamtable.operators.sink import sink_table
from streamtable.plan.nodes import Sink
from streamtable.plan.real_time import unkept_scans
from streamtable.runtime.preflight import Notice

#: A partition of the state by its number, or what a task reads: reader, topic and partition.
_TASK = re.compile(r"\d+|\d+\.[\w.-]+\.\d+")


def check_transactions(plans: Mapping[str, Sink], bridge: Bridge) -> None:
    """Refuses what would break transactions, or what the brokers would not take.

    INVALID_OPTION for a timeout above the brokers' limit, OPTION_CONFLICT for tasks that read
    several partitions and write without state in between.

    Args:
        plans: by the names of the queries.
        bridge: the JVM side.
    """
    for query, table in _transactional(plans).items():
        _check_tasks(plans[query], table)
        longest = KafkaAdmin(bridge, table.properties).longest_transaction()
        given = transaction_timeout_ms(table)
        option = "properties.transaction.timeout.ms"
        if not given.isdigit() or int(given) < 1:
            expected = "a number of milliseconds above 0"
        elif longest is not None and int(given) > longest:
            expected = f"at most {longest}, the brokers' 'transaction.max.timeout.ms'"
        else:
            continue
        hint = f"set '{option}' to how long the longest batch may take, or raise the brokers' limit"
        raise StreamtableError(
            Condition.INVALID_OPTION,
            at=table.at,
            option=option,
            value=given,
            expected=expected,
            hint=hint,
        )


def _check_tasks(plan: Sink, table: KafkaTable) -> None:
    """Each task must read one partition, by which a batch that runs again knows it.

    Which partitions come together in a task that reads several is not the same in each run.
    """
    read = [scan.table.connector for scan in unkept_scans(plan.input)]
    sources = [source for source in read if isinstance(source, KafkaTable)]
    option = "sink.parallelism" if sources and table.sink_tasks is not None else None
    if any(source.scan_tasks is not None for source in sources):
        option = "scan.parallelism"
    if option is not None:
        raise StreamtableError(
            Condition.OPTION_CONFLICT,
            at=table.at,
            reason=(
                f"'{option}' lets a task read several partitions, and {table.table} is written"
                " exactly-once, which tells what is there already by the partition it comes from"
            ),
            hint=f"leave '{option}' out, or use 'at-least-once'",
        )


def abort_orphans(plans: Mapping[str, Sink], bridge: Bridge, notice: Notice) -> None:
    """Ends the transactions that an earlier run left open: readers of committed records wait there.

    The checkpoint is this process's alone, so whoever holds them has been killed or is no longer
    meant to write.
    """
    for query, table in _transactional(plans).items():
        admin = KafkaAdmin(bridge, table.properties)
        prefix = f"{transaction_prefix(table, query)}-"
        # What follows the prefix tells tasks apart; a longer prefix is another query's.
        ids = [t.id for t in admin.open_transactions(prefix)]
        found = [id_ for id_ in ids if _TASK.fullmatch(id_[len(prefix) :])]
        if found:
            admin.abort_transactions(found)
            notice(
                f"{table.table}: aborted {len(found)} transactions that an earlier run left open"
            )


def _transactional(plans: Mapping[str, Sink]) -> dict[str, KafkaTable]:
    tables = {query: sink_table(plan) for query, plan in plans.items()}
    return {query: table for query, table in tables.items() if table.transaction_prefix}
