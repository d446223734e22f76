"""Types of option values, with the words for what they expect."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum
from typing import Generic, TypeVar

from streamtable.core.durations import format_duration, parse_duration

T = TypeVar("T")
E_co = TypeVar("E_co", bound=Enum)


@dataclass(frozen=True)
class Kind(Generic[T]):
    """Type of an option value: `read` raises ValueError if the text does not match `expects`."""

    name: str
    expects: str
    read: Callable[[str], T]


def _boolean(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError(text)
    return text.lower() == "true"


def _not_empty(text: str) -> str:
    if not text.strip():
        raise ValueError(text)
    return text


def _names(text: str) -> tuple[str, ...]:
    names = tuple(part.strip() for part in text.split(";") if part.strip())
    if not names:
        raise ValueError(text)
    return names


TEXT: Kind[str] = Kind("String", "a text", str)
NOT_EMPTY: Kind[str] = Kind("String", "a non-empty string", _not_empty)
BOOLEAN: Kind[bool] = Kind("Boolean", "'true' or 'false'", _boolean)
DURATION: Kind[timedelta] = Kind(
    "Duration", "a duration such as '10 s' or '500 ms'", parse_duration
)
NAMES: Kind[tuple[str, ...]] = Kind(
    "List<String>",
    "a list of names separated by ';'",
    _names,
)


def integer(minimum: int = -(2**31), maximum: int = 2**31 - 1) -> Kind[int]:
    """Type of whole numbers of 32 bits, with optional limits."""
    return _whole_number("Integer", minimum, maximum)


def long_integer(minimum: int = -(2**63)) -> Kind[int]:
    """Type of whole numbers of 64 bits, with an optional minimum."""
    return _whole_number("Long", minimum, 2**63 - 1)


def _whole_number(name: str, minimum: int, maximum: int) -> Kind[int]:
    def read(text: str) -> int:
        number = int(text.strip())
        if not minimum <= number <= maximum:
            raise ValueError(text)
        return number

    return Kind(name, f"a whole number from {minimum} to {maximum}", read)


def duration(minimum: timedelta, maximum: timedelta = timedelta.max) -> Kind[timedelta]:
    """Type of durations with a minimum, and an optional maximum."""

    def read(text: str) -> timedelta:
        span = parse_duration(text)
        if not minimum <= span <= maximum:
            raise ValueError(text)
        return span

    most = "" if maximum == timedelta.max else f" and at most {format_duration(maximum)}"
    return Kind("Duration", f"a duration of at least {format_duration(minimum)}{most}", read)


def choice(values: type[E_co]) -> Kind[E_co]:
    """Type of enum members, written as their values; case-insensitive, as in Flink."""
    known = {str(member.value).lower(): member for member in values}

    def read(text: str) -> E_co:
        if text.strip().lower() not in known:
            raise ValueError(text)
        return known[text.strip().lower()]

    return Kind("Enum", "one of " + ", ".join(str(m.value) for m in values), read)
