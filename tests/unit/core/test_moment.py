"""Moments given as text."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from streamtable.core.errors import StreamtableError
from streamtable.core.moment import parse_moment

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
NOON_MS = 1_769_860_800_000
ZONE = timezone(timedelta(hours=1))


@pytest.mark.parametrize(
    ("text", "time_ms", "offsets"),
    [
        ("now", None, {}),
        ("2026-01-31 12:00:00", NOON_MS - 3_600_000, {}),
        ("2026-01-31T12:00:00Z", NOON_MS, {}),
        ("2026-01-31T11:00:00.25+00:00", NOON_MS - 3_600_000 + 250, {}),
        ("2026-01-31", NOON_MS - 13 * 3_600_000, {}),
        ("10 min ago", NOON_MS - 600_000, {}),
        (str(NOON_MS), NOON_MS, {}),
        ("partition:0,offset:42;partition:1,offset:300;", None, {0: 42, 1: 300}),
    ],
)
def test_moments(text: str, time_ms: int | None, offsets: dict[int, int]) -> None:
    found = parse_moment(text, "--as-of", ZONE, NOW)
    assert (found.time_ms, dict(found.offsets)) == (time_ms, offsets)
    assert found.is_now == (text == "now")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("yesterday", "is not a time"),
        ("", "is not a time"),
        ("99999999999999999999", "is not a time"),
        ("3 moons ago", "is not a time"),
        ("2026-02-01", "is not in the past"),
        ("partition:0,offset:1;partition:0,offset:2", "is not offsets with each partition once"),
    ],
)
def test_refusals(text: str, expected: str) -> None:
    with pytest.raises(StreamtableError, match=f"INVALID_OPTION: option '--as-of'.*{expected}"):
        parse_moment(text, "--as-of", ZONE, NOW)
