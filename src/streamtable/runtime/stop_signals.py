"""The signals by which a user asks for a stop: SIGINT, which Ctrl-C sends, and SIGTERM."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def stop_signals(stop: threading.Event | None = None) -> Iterator[threading.Event]:
    """SIGINT and SIGTERM ask for a stop; a second one ends the process at once.

    Handlers are set after Spark has started, because PySpark sets one of its own. Outside the main
    thread there are none, and only whoever holds the event asks.
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
