"""Job in a background thread, for programs that start, monitor and stop it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from streamtable.runtime.run_queries import JobObserver

#: Interval at which a job that waits for another one looks for a stop request, in seconds.
_POLL_S = 0.1


class Job:
    """Script that runs in a background thread. `Session.start` creates the job.

    The thread is a daemon: it does not keep the program alive. Call `wait` or `stop` before the
    program ends.
    """

    def __init__(self, run: Callable[[JobObserver], None]) -> None:
        self._begun = threading.Event()
        self._observer = JobObserver(after=self._begun.set)
        self._failure: BaseException | None = None
        self._thread = threading.Thread(
            target=self._run, args=(run,), name="streamtable-job", daemon=True
        )
        self._thread.start()

    @property
    def running(self) -> bool:
        """Whether the job is still running."""
        return self._thread.is_alive()

    def status(self) -> str:
        """Return the state of the job, by Flink's names.

        Returns:
            INITIALIZING until the queries have started, RUNNING, CANCELLING after a stop request,
            then FINISHED, CANCELED or FAILED.
        """
        stopping = self._observer.stop.is_set()
        if self._thread.is_alive():
            if stopping:
                return "CANCELLING"
            return "RUNNING" if self._begun.is_set() else "INITIALIZING"
        if self._failure is not None:
            return "FAILED"
        return "CANCELED" if stopping else "FINISHED"

    def metrics(self) -> dict[str, dict[str, dict[str, Any]]]:
        """Return the current metrics. Any thread may call this, also after the job has ended.

        Returns:
            `{"tables": {table: {metric: number}}, "queries": {query: {metric: value}}}`. The
            dictionaries are empty before the first poll of the running job. A query is named after
            the table that it writes. docs/reference/metrics.md lists the metrics with their units.
            A number that is not known yet is absent or None. Four query metrics are not numbers:
            `mode` is a text, `watermark` is an ISO 8601 text, `partitionWatermark` is
            `{"topic-partition": epoch ms}`, and `operators` is a list:
            `{"name": text, "stateRows": int, "stateBytes": int, "stateTime": int}` for each
            stateful operator.
        """
        return self._observer.metrics.values()

    def stop(self) -> None:
        """Request a graceful stop, as SIGTERM does for the command. Use `wait` to await the end."""
        self._observer.stop.set()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for the end of the job.

        Args:
            seconds: timeout in seconds; None waits without a limit.

        Returns:
            Whether the job has ended.

        Raises:
            StreamtableError: the error that ended the job.
        """
        self._thread.join(seconds)
        if self._thread.is_alive():
            return False
        if self._failure is not None:
            raise self._failure
        return True

    def wait_for_start(self, stop: threading.Event) -> None:
        """Wait until the queries have started, until the job has ended or until a stop request."""
        while not stop.is_set() and not self._begun.wait(_POLL_S):
            pass

    def _run(self, run: Callable[[JobObserver], None]) -> None:
        try:
            run(self._observer)
        except BaseException as failure:
            self._failure = failure
        finally:
            self._begun.set()
