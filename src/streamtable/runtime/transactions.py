"""Exactly-once sinks before a job starts: timeouts that brokers take, nothing left open."""

from __future__ import annotations

from collections.abc import Mapping

from streamtable.connectors.kafka.sink import transaction_prefix, transaction_timeout_ms
from streamtable.connectors.kafka.table import KafkaTable
from streamtable.core.errors import Condition, StreamtableError
from streamtable.jvm.bridge import Bridge
from streamtable.jvm.kafka_admin import KafkaAdmin
from streamtable.operators.sink import sink_table
from streamtable.plan.nodes import Sink
from streamtable.runtime.preflight import Notice


def check_transactions(plans: Mapping[str, Sink], bridge: Bridge) -> None:
    """INVALID_OPTION for a transaction timeout that the brokers would refuse.

    Args:
        plans: by the names of the queries.
        bridge: the JVM side.
    """
    for table in _transactional(plans).values():
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


def abort_orphans(plans: Mapping[str, Sink], bridge: Bridge, notice: Notice) -> None:
    """Ends the transactions that an earlier run left open: readers of committed records wait there.

    The checkpoint is this process's alone, so whoever holds them has been killed or is no longer
    meant to write.
    """
    for query, table in _transactional(plans).items():
        admin = KafkaAdmin(bridge, table.properties)
        prefix = f"{transaction_prefix(table, query)}-"
        # What follows the prefix is the number of a task; a longer prefix is another query's.
        found = [t.id for t in admin.open_transactions(prefix) if t.id[len(prefix) :].isdigit()]
        if found:
            admin.abort_transactions(found)
            notice(
                f"{table.table}: aborted {len(found)} transactions that an earlier run left open"
            )


def _transactional(plans: Mapping[str, Sink]) -> dict[str, KafkaTable]:
    tables = {query: sink_table(plan) for query, plan in plans.items()}
    return {query: table for query, table in tables.items() if table.transaction_prefix}
