"""Moments of a call: texts, times and offsets -> `Moment`."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, tzinfo

from streamtable.api.family import refuse_call
from streamtable.core.moment import Moment, moment_at, parse_moment

#: What a call takes as a moment: a text as `streamtable read --as-of` takes it, a datetime, epoch
#: milliseconds, or partition -> end offset.
MomentLike = str | int | datetime | Mapping[int, int]


def moment_of(given: MomentLike, argument: str, zone: tzinfo) -> Moment:
    """Return the moment of an argument; a time without a zone is in the session's.

    Raises:
        StreamtableError: INVALID_OPTION, or INVALID_CALL for a value of another type.
    """
    now = datetime.now(UTC)
    if isinstance(given, str):
        return parse_moment(given, argument, zone, now)
    if isinstance(given, datetime):
        time = given if given.tzinfo else given.replace(tzinfo=zone)
        return moment_at(time, str(given), argument, now)
    if isinstance(given, Mapping) and given:
        text = ";".join(f"partition:{p},offset:{offset}" for p, offset in given.items())
        return Moment(text, offsets=dict(given))
    if not isinstance(given, int):
        reason, hint = f"{argument} is of type {type(given).__name__}", "pass a text or a datetime"
        refuse_call("to_dataframe()", reason, hint)
    return parse_moment(f"{given:09d}", argument, zone, now)
