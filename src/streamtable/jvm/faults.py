"""Java exceptions -> ours, in one place: what a user can mend is a `StreamtableError`."""

from __future__ import annotations

import re

from py4j.protocol import Py4JJavaError

from streamtable.core.errors import Condition, StreamtableError

#: Stable words with which our Java classes begin a message that a user must see.
_MARKS = {
    "RECORD_UNREADABLE ": (
        Condition.RECORD_UNREADABLE,
        (
            "mend or skip the record; 'ignore-parse-errors' = 'true' of json and csv leaves it"
            " out, 'scan.dead-letter.topic' keeps it elsewhere"
        ),
    ),
    "RECORD_UNWRITABLE ": (
        Condition.RECORD_UNWRITABLE,
        "let the query give only what the format can hold",
    ),
    "NULL_EVENT_TIME ": (
        Condition.NULL_EVENT_TIME,
        "leave such rows out before the window or join: WHERE column IS NOT NULL",
    ),
    "NULL_IN_NOT_NULL_COLUMN ": (
        Condition.NULL_IN_NOT_NULL_COLUMN,
        "filter NULLs out in the query, or SET 'table.exec.sink.not-null-enforcer' = 'DROP'",
    ),
}
_LONGEST = 400
#: Where an exception's message begins; the same words in the text of a plan mean nothing.
_MESSAGE = r"(?:Exception: |Error: |\[USER_RAISED_EXCEPTION\] )"
#: The two ways out where records are gone.
DATA_LOST_HINT = (
    "give the job a new --checkpoint directory, which reads the topics from where the startup mode"
    " says; 'scan.fail-on-data-loss' = 'false' goes on at the checkpoint's offsets"
)
#: What Spark's Kafka source says where offsets of the checkpoint are no longer in a topic.
_LOST = re.compile(
    r"Some data may have been lost[\s\S]{0,600}?Reason:\s*([^\n]*)"
    r"|(Some of partitions in Kafka topic\(s\) have been lost[^\n]*)"
    r"|(Some of partitions in Kafka topic\(s\) report available offset which is less[^\n]*)"
)
_FIRST_LINE = re.compile(r"[^\n]*")


def kafka_fault(error: Py4JJavaError, servers: str, timeout_ms: int) -> StreamtableError:
    """A `KafkaFault` of our admin classes: no answer, or an answer that says no."""
    fault = error.java_exception
    kind = str(getattr(fault, "kind", lambda: "OTHER")())
    reason = _line(str(fault.getMessage()))
    if kind == "UNREACHABLE":
        return StreamtableError(
            Condition.BROKER_UNREACHABLE,
            servers=servers,
            seconds=timeout_ms // 1000,
            hint="check 'properties.bootstrap.servers', that the broker runs, and that"
            " 'properties.security.protocol' is what it speaks there",
        )
    if kind == "LOGIN":
        return StreamtableError(
            Condition.LOGIN_FAILED,
            servers=servers,
            reason=reason,
            hint="check 'properties.security.protocol', 'properties.sasl.*' and"
            " 'properties.ssl.*' of the table",
        )
    if kind == "ACCESS":
        hint = "let an administrator of the cluster allow it to this user"
        return StreamtableError(Condition.ACCESS_DENIED, what=reason, servers=servers, hint=hint)
    return StreamtableError(Condition.BROKER_FAILED, servers=servers, reason=reason)


def codec_fault(error: Py4JJavaError) -> StreamtableError | None:
    """A `RegistryFault` of a codec that asks a schema registry; None for anything else."""
    fault = error.java_exception
    if fault.getClass().getSimpleName() != "RegistryFault":
        return None
    condition = Condition[str(fault.condition())]
    where, reason = str(fault.where()), _line(str(fault.getMessage()))[:_LONGEST]
    if condition is Condition.SCHEMA_INCOMPATIBLE:
        hint = "change the columns compatibly, or the subject's compatibility, or name another one"
        return StreamtableError(condition, subject=where, reason=reason, hint=hint)
    hint = "check the option 'url' and the credentials; the path of the API belongs to the url"
    return StreamtableError(condition, url=where, reason=reason, hint=hint)


def job_fault(sink: str, text: str) -> StreamtableError:
    """What ended a query, out of the text of Spark's exception chain.

    Args:
        sink: the table that the query writes.
        text: the exception with all its causes, as Spark prints it.
    """
    for mark, (condition, hint) in _MARKS.items():
        found = re.search(_MESSAGE + re.escape(mark) + r"([^\n]*)", text)
        if found:
            return StreamtableError(condition, reason=_line(found.group(1)), hint=hint)
    lost = _LOST.search(text)
    if lost:
        reason = _line(next(filter(None, lost.groups())))
        return StreamtableError(Condition.DATA_LOST, table=sink, reason=reason, hint=DATA_LOST_HINT)
    causes = re.findall(r"^Caused by: (?:[\w.$]+: )?(.*)$", text, re.MULTILINE)
    reason = causes[-1] if causes else text.strip()
    return StreamtableError(
        Condition.JOB_FAILED, sink=sink, reason=_line(reason), hint="--debug shows the whole trace"
    )


def _line(text: str) -> str:
    found = _FIRST_LINE.match(text.strip())
    return found.group(0).strip() if found else ""
