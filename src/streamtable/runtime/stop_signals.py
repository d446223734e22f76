"""Signals that request a stop: SIGINT, which Ctrl-C sends, and SIGTERM."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def stop_signals(stop: threading.Event | None = None) -> Iterator[threading.Event]:
    """Set the event at SIGINT or SIGTERM; a second signal ends the process at once.

    Outside the main thread no handlers are installed, and only code that has the event can set it.
    """
    stop = stop or threading.Event()

    def ask(number: int, _frame: FrameType | None) -> None:
        signal.signal(number, signal.SIG_DFL)
        stop.set()

    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
