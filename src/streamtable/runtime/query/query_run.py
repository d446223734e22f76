"""One Spark run of a streaming query, from its start to its end."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress

from pyspark.errors import StreamingQueryException
from pyspark.sql.streaming.listener import StreamingQueryProgress
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from streamtable.connector_api.source import Split
from streamtable.core.errors import Condition, StreamtableError
from streamtable.jvm.bridge import Bridge
from streamtable.jvm.faults import Explain, JavaError, first_line, job_fault
from streamtable.jvm.streaming.progress import Progress
from streamtable.plan.sink.sink import Root
from streamtable.runtime.metrics.lag import all_reached

_POLL_S = 0.05

#: How long a stop request may wait for a call of the JVM, in seconds.
_STOP_S = 0.1


def wait_for_end(query: StreamingQuery, stop: threading.Event, seconds: float) -> None:
    """Wait until a query has ended, also by an error, until a stop request or until the timeout.

    The timeout, in seconds, is observed to a tenth of a second.
    """
    end = time.monotonic() + seconds
    with suppress(StreamingQueryException):
        while not stop.is_set() and time.monotonic() < end:
            if query.awaitTermination(_STOP_S):  # type: ignore[arg-type]  # takes floats, too
                return


class QueryRun:
    """One Spark run of a streaming query.

    Args:
        name: name of the query, for messages.
        writer: complete stream writer; the constructor starts the query.
        explains: functions of the query's sources and sink that explain their exceptions.
    """

    def __init__(
        self, name: str, writer: DataStreamWriter, explains: Sequence[Explain] = ()
    ) -> None:
        self._name = name
        self._explains = explains
        self.query: StreamingQuery = writer.start()
        self._progress = Progress(self.query)

    def has_ended(self) -> bool:
        """Whether the run has ended by itself.

        Spark reports a query as inactive a moment before it releases the query's name and id. A run
        has ended when both are released, so that the next run can start.

        Raises:
            StreamtableError: the error that ended the run.
        """
        # Read the state before the exception: the next poll sees a failure in between.
        active = self.query.isActive
        failure = self.failure()
        if failure is not None:
            raise failure
        if active:
            return False
        self.query.awaitTermination()
        return True

    def wait_for_end(self, stop: threading.Event, seconds: float) -> None:
        """Wait until the run has ended, also by an error, until a stop request or the timeout."""
        wait_for_end(self.query, stop, seconds)

    def failure(self) -> StreamtableError | None:
        """Return the error that ended the run; None if it runs, or has ended without one."""
        found = self.query.exception()
        return None if found is None else job_fault(self._name, str(found), self._explains)

    def stop(self) -> None:
        """Stop the run, and return when Spark has released the query.

        Raises:
            StreamtableError: QUERY_NOT_STOPPED if a task or client of the query does not end in
                time.
        """
        try:
            with suppress(StreamingQueryException):
                self.query.stop()
        except JavaError as error:
            raise StreamtableError(
                Condition.QUERY_NOT_STOPPED,
                query=self._name,
                reason=first_line(str(error.java_exception.getMessage())),
                hint="its clients wait for brokers that do not respond; it ends with this process",
            ) from error

    def is_idle(self) -> bool:
        """Whether no batch runs."""
        return not self.query.status["isTriggerActive"]

    def wait_for_batch(self, deadline: float) -> None:
        """Wait until the running batch, if there is one, has ended.

        Args:
            deadline: time of `time.monotonic` at which the wait ends in any case.
        """
        begun = self.newest_batch()
        while self.query.isActive and time.monotonic() < deadline:
            if self.newest_batch() != begun or self.is_idle():
                return
            time.sleep(_POLL_S)

    @property
    def progress(self) -> StreamingQueryProgress | None:
        """Progress of the newest batch of the run, or None."""
        return self._progress.newest()

    def has_read(self, ends: Mapping[Split, int], plan: Root, bridge: Bridge) -> bool:
        """Whether the ended batches of this run have read up to these ends of the plan's scans."""
        progress = self.progress
        if progress is None:
            return False
        return all_reached(ends, (source.endOffset for source in progress.sources), plan, bridge)

    def newest_batch(self) -> int | None:
        """Return the number of the newest batch that has ended in this run, or None."""
        return self._progress.newest_batch()

    def ended_batches(self) -> int:
        """Return the number of ended batches of this run. Spark counts at most a hundred."""
        return self._progress.ended_batches()
