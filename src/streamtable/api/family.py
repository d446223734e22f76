"""One family of errors: whatever goes wrong in a call is a StreamtableError."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

from streamtable.core.errors import Condition, InternalError, StreamtableError

_REPORT = "this is a bug in streamtable: please report it with the traceback"


@contextmanager
def one_family() -> Iterator[None]:
    """Raise an error of the block as a StreamtableError; Ctrl-C stays what it is."""
    try:
        yield
    except Exception as error:
        raise in_family(error) from (None if isinstance(error, StreamtableError) else error)


def in_family(error: Exception) -> StreamtableError:
    """Return a StreamtableError for any error; INTERNAL_ERROR for one that is not ours."""
    if isinstance(error, StreamtableError):
        return error
    kind = "" if isinstance(error, InternalError) else f"{type(error).__name__}: "
    reason = " ".join(f"{kind}{error}".split())
    return StreamtableError(Condition.INTERNAL_ERROR, reason=reason, hint=_REPORT)


def refuse_call(call: str, reason: str, hint: str) -> NoReturn:
    """Raise INVALID_CALL for a call that cannot work: what is wrong, and what to call instead."""
    raise StreamtableError(Condition.INVALID_CALL, call=call, reason=reason, hint=hint)
