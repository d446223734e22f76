"""A step of an upgrade, for several queries at the same time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait

from streamtable.jvm.bridge import Bridge

#: Number of queries whose steps run at the same time. A step of one query often waits: for Spark's
#: planning, a commit, or the last task of a stage.
_AT_ONCE = 4
_POLL_S = 0.2


def at_once(
    names: Sequence[str],
    step: Callable[[str, threading.Event], None],
    stop: threading.Event,
    bridge: Bridge,
) -> None:
    """Do a step of several queries at the same time, and wait for all of them.

    The first error ends the steps of the others.

    Args:
        names: names of the queries.
        step: takes a name, and an event that asks the step to end.
        stop: event of a stop request.
        bridge: of the session in which the steps run.

    Raises:
        Exception: the first error of a step.
    """
    ends = threading.Event()

    def run(name: str) -> None:
        with bridge.active():
            step(name, ends)

    with ThreadPoolExecutor(_AT_ONCE, "streamtable-upgrade") as pool:
        left: set[Future[None]] = {pool.submit(run, name) for name in names}
        try:
            while left:
                done, left = wait(left, _POLL_S, FIRST_EXCEPTION)
                for each in done:
                    each.result()
                if stop.is_set():
                    ends.set()
        finally:
            ends.set()
            pool.shutdown(wait=False, cancel_futures=True)
