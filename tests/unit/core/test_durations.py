"""Durations in Flink's syntax."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest

from streamtable.core.durations import format_duration, parse_duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("10 s", 10), ("500ms", 0.5), ("2 min", 120), ("1 h", 3600), ("1d", 86400), ("1500", 1.5)],
)
def test_durations(text: str, seconds: float) -> None:
    assert parse_duration(text) == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    "text", ["", "s", "ten s", "1.5 s", "-1 s", "1 fortnight", "9" * 12 + " d"]
)
def test_invalid_durations(text: str) -> None:
    with pytest.raises(ValueError, match="^" + re.escape(text) + "$"):
        parse_duration(text)


@pytest.mark.parametrize("text", ["0 ms", "1500 ms", "5 m", "90 s", "1 d", "7 us"])
def test_formatting_is_the_inverse_of_parsing(text: str) -> None:
    assert format_duration(parse_duration(text)) == text
