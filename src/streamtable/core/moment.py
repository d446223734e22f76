"""Moments of a table's history: a time, offsets of a topic, or now."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta, tzinfo

from streamtable.core.durations import parse_duration
from streamtable.core.errors import Condition, StreamtableError

_OFFSETS = re.compile(r"\s*partition\s*:\s*(\d+)\s*,\s*offset\s*:\s*(\d+)\s*")
_AGO = re.compile(r"(?P<duration>.+?)\s+ago\s*")
_MS = timedelta(milliseconds=1)
_EXPECTED = (
    "a time ('2026-01-31 12:00:00', '2026-01-31T12:00:00Z', '10 min ago', epoch milliseconds),"
    " offsets ('partition:0,offset:42;partition:1,offset:300'), or 'now'"
)


@dataclass(frozen=True)
class Moment:
    """A moment of a table's history; with neither time nor offsets, the current end.

    Attributes:
        text: as the user wrote it, for messages.
        time_ms: epoch milliseconds; records of this time are included.
        offsets: partition -> end offset, exclusive.
    """

    text: str
    time_ms: int | None = None
    offsets: Mapping[int, int] = field(default_factory=dict)

    @property
    def is_now(self) -> bool:
        """Whether the moment is the current end of the table's records."""
        return self.time_ms is None and not self.offsets


NOW = Moment("now")


def parse_moment(text: str, option: str, zone: tzinfo, now: datetime) -> Moment:
    """Parse a moment: `10 min ago`, `2026-01-31 12:00:00`, `partition:0,offset:42`, `now`.

    Args:
        text: the moment.
        option: the option or argument with the text, for messages.
        zone: the time zone of times without one.
        now: the current time, with a time zone.

    Raises:
        StreamtableError: INVALID_OPTION for any other text, or a time in the future.
    """
    given = text.strip()
    if given == NOW.text:
        return NOW
    offsets = parse_offsets(given, option)
    if offsets is not None:
        return Moment(given, offsets=offsets)
    time = _time(given, zone, now)
    if time is None:
        raise _invalid(text, option, _EXPECTED)
    return moment_at(time, given, option, now)


def parse_offsets(text: str, option: str) -> dict[int, int] | None:
    """Parse Flink's `partition:0,offset:42;partition:1,offset:300`; None for any other text.

    Args:
        text: the offsets.
        option: the option or argument with the text, for messages.

    Raises:
        StreamtableError: INVALID_OPTION if a partition is named twice.
    """
    entries = text.strip().removesuffix(";").split(";")
    found = [match for entry in entries if (match := _OFFSETS.fullmatch(entry))]
    if len(found) < len(entries):
        return None
    offsets = {int(match[1]): int(match[2]) for match in found}
    if len(offsets) < len(entries):
        raise _invalid(text, option, "offsets with each partition once")
    return offsets


def moment_at(time: datetime, text: str, option: str, now: datetime) -> Moment:
    """Return the moment of a time with a time zone.

    Raises:
        StreamtableError: INVALID_OPTION for a time in the future.
    """
    if time > now:
        raise _invalid(text, option, f"in the past: it is {now.isoformat(timespec='seconds')} now")
    epoch = datetime(1970, 1, 1, tzinfo=now.tzinfo)
    return Moment(text, time_ms=(time - epoch) // _MS)


def _time(text: str, zone: tzinfo, now: datetime) -> datetime | None:
    ago = _AGO.fullmatch(text)
    try:
        if ago:
            return now - parse_duration(ago["duration"])
        if text.isdecimal() and len(text) > len("20260131"):
            return datetime.fromtimestamp(int(text) / 1_000, tz=now.tzinfo)
        parsed = datetime.fromisoformat(text)
    except (ValueError, OverflowError, OSError):
        return None
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=zone)


def _invalid(text: str, option: str, expected: str) -> StreamtableError:
    return StreamtableError(Condition.INVALID_OPTION, option=option, value=text, expected=expected)
