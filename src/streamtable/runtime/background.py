"""A job in a thread of its own, for programs that start it, look at it and stop it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from streamtable.runtime.job import Watcher


class Job:
    """A script that runs in the background; `Session.start` makes one.

    A thread of a program that ends is not waited for: call `wait`, or `stop`.
    """

    def __init__(self, run: Callable[[Watcher], None]) -> None:
        self._watcher = Watcher()
        self._failure: BaseException | None = None
        self._thread = threading.Thread(
            target=self._run, args=(run,), name="streamtable-job", daemon=True
        )
        self._thread.start()

    @property
    def running(self) -> bool:
        """Whether it has not ended yet."""
        return self._thread.is_alive()

    def metrics(self) -> dict[str, dict[str, dict[str, Any]]]:
        """All metrics now, also after the end; from any thread.

        Returns:
            `{"tables": {table: {metric: number}}, "queries": {query: {metric: value}}}`, empty
            before the first look at the running job. A query is named after the table it writes.
            docs/reference/metrics.md lists the metrics with their units. A number that is not
            known yet is absent or None. Of other shapes are, in a query: `watermark`, an ISO 8601
            text; `partitionWatermark`, `{"topic-partition": epoch ms}`; `operators`, a list of
            `{"name": text, "stateRows": int, "stateBytes": int}`.
        """
        return self._watcher.metrics.values()

    def stop(self) -> None:
        """Asks for a clean end, as SIGTERM does the command; `wait` tells when it has come."""
        self._watcher.stop.set()

    def wait(self, seconds: float | None = None) -> bool:
        """Waits for the end, for some seconds or for as long as it takes.

        Returns:
            Whether it has ended.

        Raises:
            StreamtableError: what ended the job.
        """
        self._thread.join(seconds)
        if self._thread.is_alive():
            return False
        if self._failure is not None:
            raise self._failure
        return True

    def _run(self, run: Callable[[Watcher], None]) -> None:
        try:
            run(self._watcher)
        except BaseException as failure:
            self._failure = failure
