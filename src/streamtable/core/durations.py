"""Durations in Flink's syntax (`10 s`, `500ms`, `1 h`).

Source: Flink's `TimeUtils`. A duration is a whole number, optional white space and a unit. The
default unit is milliseconds.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import timedelta

_TEXT = re.compile(r"\s*(\d+)\s*([^\d\s]*)\s*\Z")

_MICROSECONDS = {
    1: ("us", "micro", "micros", "microsecond", "microseconds", "µs"),
    1_000: ("", "ms", "milli", "millis", "millisecond", "milliseconds"),
    1_000_000: ("s", "sec", "secs", "second", "seconds"),
    60_000_000: ("m", "min", "minute", "minutes"),
    3_600_000_000: ("h", "hour", "hours"),
    86_400_000_000: ("d", "day", "days"),
}


def parse_duration(text: str) -> timedelta:
    """Parse a duration: `'1 min'` -> one minute. Raises ValueError where Flink does."""
    try:
        return timedelta(microseconds=_parse(text, _MICROSECONDS))
    except OverflowError:
        raise ValueError(text) from None


def _parse(text: str, units: Mapping[int, tuple[str, ...]]) -> int:
    found = _TEXT.match(text)
    if found:
        number, unit = found.groups()
        for factor, names in units.items():
            if unit.lower() in names:
                return int(number) * factor
    raise ValueError(text)


def milliseconds(span: timedelta | None) -> int:
    """Whole milliseconds of a duration; 0 for None."""
    return 0 if span is None else span // timedelta(milliseconds=1)


def format_duration(span: timedelta) -> str:
    """Format a duration in whole units, as short as possible: `2 s`, `90 min`.

    `parse_duration` reads the text back.
    """
    micros = round(span / timedelta(microseconds=1))
    for factor, names in reversed(_MICROSECONDS.items()):
        if micros % factor == 0 and (micros or factor == 1_000):
            return f"{micros // factor} {names[0] or 'ms'}"
    return f"{micros} us"
