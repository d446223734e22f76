"""Times at which processing-time windows may end."""

from __future__ import annotations

import pytest

from streamtable.plan.window.window import Window, WindowKind
from streamtable.runtime.query.watermark_advance import tick

_MINUTE = 60_000


@pytest.mark.parametrize(
    ("windows", "millis"),
    [
        ([], 0),
        ([Window(WindowKind.TUMBLE, 10_000, 10_000)], 10_000),
        # Time zones differ by whole minutes, so an hour may begin at any minute.
        ([Window(WindowKind.TUMBLE, 60 * _MINUTE, 60 * _MINUTE)], _MINUTE),
        ([Window(WindowKind.TUMBLE, 10_000, 10_000, offset=3_000)], 1_000),
        ([Window(WindowKind.HOP, 15_000, 5_000), Window(WindowKind.TUMBLE, 4_000, 4_000)], 1_000),
        ([Window(WindowKind.SESSION, 30_000, 30_000)], 1_000),
    ],
)
def test_every_end_of_a_window_is_at_a_tick(windows: list[Window], millis: int) -> None:
    assert tick(windows) == millis
