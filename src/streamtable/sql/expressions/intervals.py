"""Interval literals: `INTERVAL '1:30' MINUTE TO SECOND` -> a number of months or microseconds."""

from __future__ import annotations

import re
from dataclasses import dataclass

MONTHS = "MONTH"
MICROSECONDS = "MICROSECOND"

#: Unit -> its length in the smallest unit of its kind, and its count in the next larger unit.
_UNITS = {
    "YEAR": (MONTHS, 12, None),
    "QUARTER": (MONTHS, 3, None),
    "MONTH": (MONTHS, 1, 12),
    "WEEK": (MICROSECONDS, 604_800_000_000, None),
    "DAY": (MICROSECONDS, 86_400_000_000, None),
    "HOUR": (MICROSECONDS, 3_600_000_000, 24),
    "MINUTE": (MICROSECONDS, 60_000_000, 60),
    "SECOND": (MICROSECONDS, 1_000_000, 60),
}
_SINGULAR = {unit + "S": unit for unit in _UNITS} | {unit: unit for unit in _UNITS}
#: Units of an interval range, and the separator before the text of each unit.
_RANGES = (("YEAR", "MONTH"), ("DAY", "HOUR", "MINUTE", "SECOND"))
_BEFORE = {"MONTH": "-", "HOUR": " ", "MINUTE": ":", "SECOND": ":"}
_DEFAULT_DIGITS = 2


@dataclass(frozen=True)
class Qualifier:
    """Units of an interval, such as `MINUTE TO SECOND`.

    Attributes:
        first: largest unit.
        last: smallest unit; equal to `first` for a single unit.
        digits: maximum digits of the largest unit; Flink's default is 2.
    """

    first: str
    last: str
    digits: int = _DEFAULT_DIGITS

    @property
    def name(self) -> str:
        """Name of the qualifier in SQL."""
        return self.first if self.first == self.last else f"{self.first} TO {self.last}"

    @property
    def kind(self) -> str:
        """Unit in which values are counted: `MONTH` or `MICROSECOND`."""
        return _UNITS[self.first][0]

    @property
    def units(self) -> tuple[str, ...]:
        """All units, from largest to smallest."""
        for units in _RANGES:
            if self.first in units and self.last in units:
                return units[units.index(self.first) : units.index(self.last) + 1]
        return (self.first,)

    @property
    def pattern(self) -> str:
        """Format of the text in messages, e.g. `MINUTE:SECOND`."""
        first, *others = self.units
        return first + "".join(_BEFORE[unit] + unit for unit in others)


def unit_of(word: str) -> str | None:
    """Return the unit of a word: `SECONDS` or `SECOND` -> `SECOND`; None for other words."""
    return _SINGULAR.get(word)


def can_end_with(first: str, last: str) -> bool:
    """Return whether `first TO last` is a valid range."""
    return any(
        first in units and last in units and units.index(first) < units.index(last)
        for units in _RANGES
    )


def interval_value(text: str, qualifier: Qualifier) -> int:
    """Return the value of an interval in months or microseconds.

    Args:
        text: text between the quotes; may begin with a sign.
        qualifier: its units.

    Raises:
        ValueError: the text is invalid; the message says what was expected.
    """
    units = qualifier.units
    parts = [r"(\d+)"]
    parts += [re.escape(_BEFORE[unit]) + r"(\d{1,2})" for unit in units[1:]]
    fraction = r"(?:\.(\d{1,6}))?" if units[-1] == "SECOND" else "()"
    found = re.fullmatch(rf"\s*([+-]?){''.join(parts)}{fraction}\s*", text, re.ASCII)
    if not found:
        expected = f"an interval such as {qualifier.pattern}"
        raise ValueError(expected)
    sign, *numbers, decimals = found.groups()
    if len(numbers[0].lstrip("0")) > qualifier.digits:
        expected = f"at most {qualifier.digits} digits (more with {units[0]}({len(numbers[0])}))"
        raise ValueError(expected)
    total = int((decimals or "").ljust(6, "0")) if decimals else 0
    for index, (unit, number) in enumerate(zip(units, numbers, strict=True)):
        _, size, limit = _UNITS[unit]
        if index and limit is not None and int(number) >= limit:
            expected = f"a {unit} below {limit}"
            raise ValueError(expected)
        total += int(number) * size
    return -total if sign == "-" else total
