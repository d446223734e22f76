"""Decisions of auto mode, and the lags on which they depend."""

from __future__ import annotations

import pytest

from streamtable.connectors.kafka.cluster.positions import positions
from streamtable.core.settings.execution import ExecutionMode
from streamtable.runtime.metrics.lag import distance
from streamtable.runtime.query.modes import next_mode

_BATCH, _REAL = ExecutionMode.MICRO_BATCH, ExecutionMode.REAL_TIME


@pytest.mark.parametrize(
    ("mode", "behind", "then"),
    [
        (_BATCH, 0, _REAL),
        (_BATCH, 100, _REAL),
        (_BATCH, 101, _BATCH),
        (_REAL, 101, _REAL),
        (_REAL, 1_000, _REAL),
        (_REAL, 1_001, _BATCH),
    ],
)
def test_switching_back_to_micro_batches_needs_a_larger_lag(
    mode: ExecutionMode, behind: int, then: ExecutionMode
) -> None:
    assert next_mode(mode, behind, begin_at=100) is then


def test_positions_are_those_of_the_slowest_source() -> None:
    reached = ['{"a": {"0": 5, "1": 7}}', '{"a": {"0": 3}, "b": {"0": 1}}', '{"logOffset": 2}', "4"]
    assert positions(reached) == {("a", 0): 3, ("a", 1): 7, ("b", 0): 1}


def test_distance_over_splits() -> None:
    position = {"a/0": 3, "a/1": 7, "gone/0": 4}
    ends = {"a/0": 10, "a/1": 6, "a/2": 99}
    assert distance(position, ends) == 7
