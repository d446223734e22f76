"""Translate errors of brokers, and of queries that read or write topics, into StreamtableErrors."""

from __future__ import annotations

import re

from streamtable.core.errors import Condition, StreamtableError
from streamtable.jvm.faults import JavaError, first_line

#: The two remedies if records were deleted before they were read.
DATA_LOST_HINT = (
    "start with a new --checkpoint directory, so that the job reads from its startup mode, and"
    " write to new topics, because obsolete keys stay in the old topics of upsert sinks; or set"
    " 'scan.fail-on-data-loss' = 'false' to continue at the checkpoint's offsets"
)
#: Messages of Spark's Kafka source if a topic no longer has the offsets of the checkpoint.
_LOST = re.compile(
    r"Some data may have been lost[\s\S]{0,600}?Reason:\s*([^\n]*)"
    r"|(Some of partitions in Kafka topic\(s\) have been lost[^\n]*)"
    r"|(Some of partitions in Kafka topic\(s\) report available offset which is less[^\n]*)"
    r"|OffsetOutOfRangeException: ([^\n]*)"
)
#: The message of our producer if brokers did not acknowledge a record in time.
_NOT_TAKEN = re.compile(
    r"KafkaFault: ((?:dead letters, )?topic '[^\n']*': TimeoutException: Expiring [^\n]*)"
)
_NOT_TAKEN_HINT = (
    "find out why the brokers accept no records, then restart the job with the same checkpoint;"
    " 'properties.delivery.timeout.ms' of the table limits the wait"
)

#: Kinds of a `KafkaFault` without an answer, and their hints.
_UNREACHABLE = {
    "UNCONNECTED": "check 'properties.bootstrap.servers', and whether the broker is running",
    "UNREACHABLE": (
        "the servers accept connections, but requests time out: check whether"
        " 'properties.security.protocol' matches their listener, and whether this machine can"
        " reach the addresses in 'advertised.listeners' of the brokers"
    ),
}

#: The name of the external system in messages.
SYSTEM = "Kafka"


def kafka_fault(error: JavaError, servers: str) -> StreamtableError:
    """Translate a `KafkaFault` of our admin classes: no response, or an error response."""
    fault = error.java_exception
    kind = str(getattr(fault, "kind", lambda: "OTHER")())
    reason = first_line(str(fault.getMessage()))
    if kind in _UNREACHABLE:
        return StreamtableError(
            Condition.BROKER_UNREACHABLE,
            system=SYSTEM,
            servers=servers,
            reason=reason,
            hint=_UNREACHABLE[kind],
        )
    if kind == "LOGIN":
        return StreamtableError(
            Condition.LOGIN_FAILED,
            system=SYSTEM,
            servers=servers,
            reason=reason,
            hint="check 'properties.security.protocol', 'properties.sasl.*' and"
            " 'properties.ssl.*' of the table",
        )
    if kind == "ACCESS":
        hint = "ask an administrator of the cluster to grant it to this user"
        return StreamtableError(
            Condition.ACCESS_DENIED, system=SYSTEM, servers=servers, what=reason, hint=hint
        )
    return StreamtableError(Condition.BROKER_FAILED, system=SYSTEM, servers=servers, reason=reason)


def explain_fault(sink: str, text: str) -> StreamtableError | None:
    """Translate an exception of Spark's Kafka source or our producer; None for any other.

    Args:
        sink: the table that the query writes.
        text: the exception with all its causes, as Spark prints it.
    """
    lost = _LOST.search(text)
    if lost:
        reason = first_line(next(filter(None, lost.groups())))
        return StreamtableError(Condition.DATA_LOST, table=sink, reason=reason, hint=DATA_LOST_HINT)
    untaken = _NOT_TAKEN.search(text)
    if untaken:
        reason = first_line(untaken.group(1))
        return StreamtableError(
            Condition.JOB_FAILED, sink=sink, reason=reason, hint=_NOT_TAKEN_HINT
        )
    return None
