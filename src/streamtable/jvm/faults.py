"""Translate Java exceptions; errors that a user can fix become `StreamtableError`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from py4j.protocol import Py4JError, Py4JJavaError

from streamtable.core.errors import Condition, ForwardedError, StreamtableError
from streamtable.jvm.python_faults import python_fault

#: An exception of a Java method; no other package needs its subclasses.
JavaError = Py4JJavaError

#: Translates the text of an exception, for a sink's name; None for an unknown exception.
Explain = Callable[[str, str], StreamtableError | None]

#: Stable prefixes of messages from our Java classes that a user must see.
_MARKS = {
    "CHECKPOINT_LOST ": (
        Condition.CHECKPOINT_LOST,
        "run only one job for each checkpoint; this job has written no further checkpoint",
    ),
    "RECORD_UNREADABLE ": (
        Condition.RECORD_UNREADABLE,
        (
            "correct the record or skip it: 'ignore-parse-errors' = 'true' of json and csv"
            " skips it, 'scan.dead-letter.topic' stores it in another topic"
        ),
    ),
    "RECORD_UNWRITABLE ": (
        Condition.RECORD_UNWRITABLE,
        "change the query so that it returns only values that the format and the sink support",
    ),
    "NULL_EVENT_TIME ": (
        Condition.NULL_EVENT_TIME,
        "filter such rows before the window or join: WHERE column IS NOT NULL",
    ),
    "NULL_IN_NOT_NULL_COLUMN ": (
        Condition.NULL_IN_NOT_NULL_COLUMN,
        "filter NULLs out in the query, or SET 'table.exec.sink.not-null-enforcer' = 'DROP'",
    ),
}
_LONGEST = 400
#: The start of an exception's message. The same words in the text of a plan have no meaning. An
#: error of the sink's writer is the first line, without its class.
_MESSAGE = r"(?:\A|Exception: |Error: |\[USER_RAISED_EXCEPTION\] )"
#: Spark's message if a batch of real-time mode has too few free slots.
_NO_ROOM = re.compile(
    r"\[CONCURRENT_SCHEDULER_INSUFFICIENT_SLOT][\s\S]*?needs (\d+) [\s\S]*?only (\d+) are"
)
#: The message of a FunctionException: a user's function in Java has failed.
_JAVA_FUNCTION = re.compile(
    _MESSAGE + r"FUNCTION_FAILED (?P<function>.+?) at (?P<place>\S+): (?P<reason>[^\n]*)"
)
#: Spark's message for a NULL key of a map.
_NULL_MAP_KEY = "[NULL_MAP_KEY] Cannot use null"
#: The text of a StreamtableError at the end of a Python traceback, and its note, a JSON object.
_OURS = re.compile(
    r"streamtable\.core\.errors\.StreamtableError: "
    r"(?P<text>(?:\S+:\d+:\d+: )?(?P<condition>[A-Z_]+): [^\n]*)(?:\n(?P<note>\{[^\n]*\}))?"
)
_FIRST_LINE = re.compile(r"[^\n]*")


def is_connection_lost(error: Exception) -> bool:
    """Return whether a call did not reach the JVM, or got no response from it."""
    if isinstance(error, Py4JError):
        return not isinstance(error, Py4JJavaError)
    return isinstance(error, ConnectionError) or "SparkContext was shut down" in str(error)


def codec_fault(error: Py4JJavaError) -> StreamtableError | None:
    """Translate a `RegistryFault` or a `SchemaFault` of a codec; None for other errors."""
    fault = error.java_exception
    if fault.getClass().getSimpleName() == "SchemaFault":
        reason = first_line(str(fault.getMessage()))[:_LONGEST]
        hint = "correct the schema, the name of the message, or the columns of the table"
        return StreamtableError(Condition.SCHEMA_UNUSABLE, reason=reason, hint=hint)
    if fault.getClass().getSimpleName() != "RegistryFault":
        return None
    condition = Condition[str(fault.condition())]
    where, reason = str(fault.where()), first_line(str(fault.getMessage()))[:_LONGEST]
    if condition is Condition.SCHEMA_INCOMPATIBLE:
        hint = (
            "make a compatible change of the columns, change the subject's compatibility, or"
            " use another subject"
        )
        return StreamtableError(condition, subject=where, reason=reason, hint=hint)
    hint = "check the URL of the registry and the credentials; it must include the path of the API"
    return StreamtableError(condition, url=where, reason=reason, hint=hint)


def job_fault(sink: str, text: str, explains: Iterable[Explain] = ()) -> StreamtableError:
    """Return the error that ended a query, from the text of Spark's exception chain.

    Args:
        sink: the table that the query writes.
        text: the exception with all its causes, as Spark prints it.
        explains: translations of exceptions by the sources and the sink of the query.
    """
    forwarded = forwarded_fault(text)
    if forwarded is not None:
        return forwarded
    for mark, (condition, hint) in _MARKS.items():
        found = re.search(_MESSAGE + re.escape(mark) + r"([^\n]*)", text)
        if found:
            return StreamtableError(condition, reason=first_line(found.group(1)), hint=hint)
    for explain in explains:
        explained = explain(sink, text)
        if explained is not None:
            return explained
    room = _NO_ROOM.search(text)
    if room:
        return not_enough_slots(needed=int(room.group(1)), available=int(room.group(2)))
    if _NULL_MAP_KEY in text:
        reason = f"the query for {sink} returns a map with a NULL key, which Spark does not support"
        hint = "remove such entries, e.g. CASE WHEN k IS NULL THEN NULL ELSE MAP[k, v] END"
        return StreamtableError(Condition.RECORD_UNWRITABLE, reason=reason, hint=hint)
    in_java = _JAVA_FUNCTION.search(text)
    if in_java:
        return StreamtableError(
            Condition.FUNCTION_FAILED,
            language="Java",
            function=in_java["function"],
            place=in_java["place"],
            reason=in_java["reason"][:_LONGEST],
            hint="handle the value in the function, or filter such rows before the call",
        )
    python = python_fault(sink, text)
    if python is not None:
        return python
    causes = re.findall(r"^Caused by: (?:[\w.$]+: )?(.*)$", text, re.MULTILINE)
    reason = causes[-1] if causes else text.strip()
    return StreamtableError(
        Condition.JOB_FAILED,
        sink=sink,
        reason=first_line(reason),
        hint="--debug shows the whole trace",
    )


def not_enough_slots(*, needed: int, available: int) -> StreamtableError:
    """Return NOT_ENOUGH_SLOTS with a hint."""
    return StreamtableError(
        Condition.NOT_ENOUGH_SLOTS,
        needed=needed,
        available=available,
        hint=(
            f"give Spark {needed - available} more cores, lower 'parallelism.default',"
            " or SET 'execution.mode' = 'micro-batch'"
        ),
    )


def forwarded_fault(text: str) -> StreamtableError | None:
    """Return the last StreamtableError of a Python process in Spark; None if there is none.

    It has the note of the error in that process.
    """
    for found in reversed(list(_OURS.finditer(text))):
        if found["condition"] in Condition.__members__:
            error = ForwardedError(found["text"].strip(), Condition[found["condition"]])
            if found["note"]:
                error.add_note(found["note"])
            return error
    return None


def first_line(text: str) -> str:
    """Return the first line of a message that is not empty."""
    found = _FIRST_LINE.match(text.strip())
    return found.group(0).strip() if found else ""
