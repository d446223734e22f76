"""Job: INSERTs that run in the background."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NoReturn

from streamtable.api.family import in_family, refuse_call
from streamtable.api.result import Result
from streamtable.api.row import Row
from streamtable.core.types import STRING, Field

if TYPE_CHECKING:
    from streamtable.runtime.background import Job as Running


class Job(Result):
    """INSERTs that run in the background until their input ends, or until `stop`.

    Attributes:
        id: number of the job in its session, as a text; SHOW JOBS lists it.
        name: 'pipeline.name', or the tables that the job writes.
        sinks: names of the tables that the job writes.
        started: time of the start, in UTC.
        ended: time at which the job has ended, in UTC; None while it runs.
        keeps: whether the job has a checkpoint directory, from which a later job continues.
    """

    fields = (Field("job id", STRING), Field("job name", STRING), Field("status", STRING))

    def __init__(
        self,
        id: str,  # noqa: A002 - the user's word for it
        name: str,
        sinks: tuple[str, ...],
        start: Callable[[Callable[[], None]], Running],
        *,
        keeps: bool,
    ) -> None:
        self.id = id
        self.name = name
        self.sinks = sinks
        self.keeps = keeps
        self.started = datetime.now(UTC)
        self.ended: datetime | None = None
        self._running = start(self._end)

    @property
    def running(self) -> bool:
        """Whether the job is still running."""
        return self._running.running

    @property
    def error(self) -> Exception | None:
        """The error that ended the job, or None."""
        return None if self.running else self.ended_with()

    def ended_with(self) -> Exception | None:
        """Wait for the end of the job, and return the error that ended it, or None."""
        try:
            self.wait()
        except Exception as error:
            return error
        return None

    def status(self) -> str:
        """Return the state of the job, by Flink's names.

        Returns:
            INITIALIZING until the queries have started, RUNNING, CANCELLING after `stop`, then
            FINISHED at the end of the input, CANCELED after `stop`, or FAILED.
        """
        return self._running.status()

    def metrics(self) -> dict[str, dict[str, dict[str, Any]]]:
        """Return the current metrics; any thread may call this, also after the end.

        Returns:
            `{"tables": {table: {metric: value}}, "queries": {table: {metric: value}}}`, by the
            names of docs/reference/metrics.md. Both are empty before the job reads its first rows.
        """
        return self._running.metrics()

    def stop(self) -> None:
        """Request a graceful stop, as Ctrl-C does for `streamtable run`. `wait` awaits the end."""
        self._running.stop()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for the end of the job.

        Args:
            seconds: timeout in seconds; None waits without a limit.

        Returns:
            Whether the job has ended.

        Raises:
            StreamtableError: the error that ended the job.
        """
        try:
            return self._running.wait(seconds)
        except Exception as error:
            raise in_family(error) from error.__cause__

    def get_job_client(self) -> Job:
        """Return the job itself; PyFlink's name."""
        return self

    def cancel(self) -> None:
        """Stop the job; PyFlink's name for `stop`."""
        self.stop()

    def get_job_id(self) -> str:
        """Return `id`; PyFlink's name."""
        return self.id

    def get_job_status(self) -> str:
        """Return `status()`; PyFlink's name."""
        return self.status()

    def print(self) -> None:
        """Print id, name and state of the job."""
        print(repr(self))  # noqa: T201 - what the call is for

    def collect(self) -> Iterator[Row]:
        """Yield one row: id, name and state of the job."""
        return iter(self._final_rows("collect()"))

    def __repr__(self) -> str:
        return f"job {self.id} ({self.name}): {self.status()}"

    def _final_rows(self, call: str) -> list[Row]:
        del call
        return [Row((self.id, self.name, self.status()), self.columns)]

    def _lacks(self, call: str) -> NoReturn:
        refuse_call(call, "the result is a job", "call wait(), stop(), status() or metrics()")

    def _end(self) -> None:
        self.ended = datetime.now(UTC)
