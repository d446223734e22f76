"""Steps of several queries at the same time: the first error or a stop request ends all of them."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from streamtable.jvm.bridge import Bridge
from streamtable.runtime.upgrade.at_once import at_once

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Timeout of waits, longer than any step takes.
_PATIENCE_S = 60.0


class _Steps:
    """Simultaneous steps of two queries. Those in `waits` wait for a stop request; others fail."""

    def __init__(self, *waits: str) -> None:
        self._waits, self._met = waits, threading.Barrier(2)
        self.asked = set[str]()

    def __call__(self, name: str, stop: threading.Event) -> None:
        self._met.wait(_PATIENCE_S)
        if name not in self._waits:
            raise ValueError(name)
        if stop.wait(_PATIENCE_S):
            self.asked.add(name)


def test_the_first_error_ends_all_steps(spark: SparkSession) -> None:
    steps = _Steps("a")
    with pytest.raises(ValueError, match=r"^b$"):
        at_once(["a", "b"], steps, threading.Event(), Bridge(spark))
    assert steps.asked == {"a"}


def test_a_stop_request_reaches_all_steps(spark: SparkSession) -> None:
    steps, stop = _Steps("a", "b"), threading.Event()
    stop.set()
    at_once(["a", "b"], steps, stop, Bridge(spark))
    assert steps.asked == {"a", "b"}
