"""Durations in Flink's syntax (`10 s`, `500ms`, `1 h`).

Source: Flink's `TimeUtils`: a whole number, optional white space, a unit; no unit means
milliseconds.
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
    """`'1 min'` -> one minute. Raises ValueError on anything Flink would not take."""
    return timedelta(microseconds=_parse(text, _MICROSECONDS))


def _parse(text: str, units: Mapping[int, tuple[str, ...]]) -> int:
    found = _TEXT.match(text)
    if found:
        number, unit = found.groups()
        for factor, names in units.items():
            if unit.lower() in names:
                return int(number) * factor
    raise ValueError(text)


def milliseconds(span: timedelta | None) -> int:
    """Whole milliseconds; 0 for none."""
    return 0 if span is None else span // timedelta(milliseconds=1)


def format_duration(span: timedelta) -> str:
    """The shortest text in whole units that `parse_duration` reads back: `2 s`, `90 min`."""
    micros = round(span / timedelta(microseconds=1))
    for factor, names in reversed(_MICROSECONDS.items()):
        if micros % factor == 0 and (micros or factor == 1_000):
            return f"{micros // factor} {names[0] or 'ms'}"
    return f"{micros} us"
