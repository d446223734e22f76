"""Find the exception of a user's Python function in the text of Spark's exception chain."""

from __future__ import annotations

import re
from pathlib import PurePath

from streamtable.core.errors import Condition, StreamtableError

#: The first words of an exception from Spark's Python workers.
_RAISED = "PythonException"
_TRACEBACK = "Traceback (most recent call last):"
_FRAME = re.compile(r'^\s+File "(?P<file>[^"]+)", line (?P<line>\d+), in (?P<name>.+)$')
#: Folders of libraries; the user's own files are in other folders.
_LIBRARIES = ("site-packages", "dist-packages", "lib-dynload")
#: Programs of this package that run in Python workers.
_OWN = "streamtable/runtime/session/*.py"
_LONGEST = 400


def python_fault(sink: str, text: str) -> StreamtableError | None:
    """Return FUNCTION_FAILED with the user's line, or JOB_FAILED for a result of a wrong type.

    The result is None if no Python process failed.

    Args:
        sink: the table that the query writes.
        text: the exception with all its causes, as Spark prints it.
    """
    _, raised, after = text.partition(_RAISED)
    if not raised or _TRACEBACK not in after:
        return None
    frames: list[re.Match[str]] = []
    reason = ""
    # In a chain of exceptions, the last block has the exception that was raised last.
    for line in after[after.index(_TRACEBACK) :].splitlines():
        frame = _FRAME.match(line)
        if line.startswith(_TRACEBACK):
            frames, reason = [], ""
        elif frame:
            frames.append(frame)
        elif line.startswith(("\tat ", "Caused by: ")):
            break
        elif line.strip() and not line.startswith(" ") and not reason:
            reason = line.strip()[:_LONGEST]
    called = [frame for frame in frames if not _calls_functions(frame["file"])]
    if not called:
        return StreamtableError(
            Condition.JOB_FAILED,
            sink=sink,
            reason=f"the result of a Python function cannot be converted: {reason}",
            hint="return values of the declared type",
        )
    own = [frame for frame in called if not _is_library(frame["file"])] or called
    return StreamtableError(
        Condition.FUNCTION_FAILED,
        language="Python",
        function=called[0]["name"],
        place=f"{own[-1]['file']}:{own[-1]['line']}",
        reason=reason,
        hint="handle the value in the function, or filter such rows before the call",
    )


def _calls_functions(file: str) -> bool:
    """Whether a file is one of Spark or of this package, which call the user's function."""
    return "pyspark" in PurePath(file).parts or PurePath(file).match(_OWN)


def _is_library(file: str) -> bool:
    parts = PurePath(file).parts
    return any(part in _LIBRARIES or part.startswith("python3.") for part in parts)
