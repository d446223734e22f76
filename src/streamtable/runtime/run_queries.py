"""Run the queries of a job: start them, monitor them until they end, and stop them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace

from streamtable.connector_api.preflight import Notice
from streamtable.core.errors import StreamtableError, raise_all
from streamtable.core.settings.execution import STATE_ROWS
from streamtable.operators.context import LoweringContext
from streamtable.plan.sink.sink import Sink
from streamtable.runtime.checkpoint.checkpoint import Checkpoint
from streamtable.runtime.checkpoint.identities import IdentityMonitor
from streamtable.runtime.checkpoint.partition_watermarks import keep_watermarks
from streamtable.runtime.job_monitor import JobMonitor
from streamtable.runtime.metrics.metrics import JobMetrics
from streamtable.runtime.query.running import RunningQuery
from streamtable.runtime.query.source_alignment import SourceAlignment

#: Timeout for a graceful end of the queries after a stop request, in seconds.
_STOP_S = 6.0


@dataclass(frozen=True)
class JobObserver:
    """Observer of a running job.

    Attributes:
        metrics: updated while the job runs.
        after: called in the job's thread after every poll of the queries, several times a second.
        stop: event that requests a graceful stop when set.
    """

    metrics: JobMetrics = field(default_factory=JobMetrics)
    after: Callable[[], None] = lambda: None
    stop: threading.Event = field(default_factory=threading.Event)

    def also_after(self, call: Callable[[], None]) -> JobObserver:
        """Return the observer with another call after every poll."""

        def both() -> None:
            call()
            self.after()

        return replace(self, after=both)


def run_queries(
    plans: Mapping[str, Sink],
    queries: Sequence[RunningQuery],
    context: LoweringContext,
    checkpoint: Checkpoint,
    notice: Notice,
    observer: JobObserver,
    alignment: SourceAlignment,
    identities: IdentityMonitor,
) -> None:
    """Start the queries and monitor them until they end.

    Raises:
        StreamtableError: the error that has ended the job. Errors of the end that it causes, for
            example on a full disk, do not replace it.
    """
    marks = context.watermarks
    kept: Mapping[str, int] = {}

    def keep() -> None:
        nonlocal kept
        seen = marks.committed()
        if seen != kept:  # an object store is asked only after a change
            keep_watermarks(checkpoint, seen)
            kept = seen

    def after_poll() -> None:
        checkpoint.check()
        keep()
        observer.after()

    bridge, counters, metrics = context.bridge, context.counters, observer.metrics
    monitor = JobMonitor(
        plans,
        queries,
        bridge,
        counters,
        notice,
        metrics,
        marks.of_splits,
        after_poll,
        context.settings[STATE_ROWS],
        identities,
    )
    try:
        for query in queries:
            query.start()
        notice(
            f"running {', '.join(plans)}" + (" to the end of the input" if context.bounded else "")
        )
        monitor.until_end(observer.stop)
        if observer.stop.is_set():
            alignment.end()
            _finish(queries)
    except BaseException:
        with suppress(StreamtableError):
            _end(queries, notice, keep, monitor)
        raise
    _end(queries, notice, keep, monitor)


def _end(
    queries: Sequence[RunningQuery], notice: Notice, keep: Callable[[], None], monitor: JobMonitor
) -> None:
    """Stop the queries, and do all that is left even if a part of it fails."""
    with ExitStack() as stack:
        stack.callback(monitor.close)
        stack.callback(keep)
        stop_all(queries, notice)


def stop_all(queries: Iterable[RunningQuery], notice: Notice) -> None:
    """Stop every query, even if one of them fails to stop.

    A query that does not stop is reported in addition to the error that ended the job, not instead
    of this error.
    """
    for query in queries:
        try:
            query.stop()
        except StreamtableError as error:
            notice(str(error))


def _finish(queries: Sequence[RunningQuery]) -> None:
    """End every query within the stop timeout, also if others fail meanwhile."""
    deadline = time.monotonic() + _STOP_S
    faults = []
    for query in queries:
        try:
            query.finish(deadline - time.monotonic())
        except StreamtableError as error:
            faults.append(error)
    raise_all(faults)
