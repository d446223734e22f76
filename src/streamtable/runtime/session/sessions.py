"""Ownership of the Spark session of a job: started by jobs of this process, or by the caller.

A session of the caller is never stopped nor changed: a job runs in a copy of it, with its own
settings and functions. A process has one SparkContext. Concurrent jobs share the SparkContext, each
in its own session, and the last job stops it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from pyspark import SparkContext
from pyspark.sql import SparkSession

from streamtable.connector_api.preflight import Notice
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.options import Settings
from streamtable.jvm.bridge import Bridge
from streamtable.jvm.faults import is_connection_lost
from streamtable.jvm.submitted import is_submitted
from streamtable.jvm.vector_functions import register_vector_functions
from streamtable.runtime.session.foreign import check_usable, copy_of, task_classes
from streamtable.runtime.session.spark import jvm_end, jvm_has_ended, start_spark, stop_spark
from streamtable.runtime.session.workers import check_workers


@dataclass
class _Started:
    """Spark session that jobs of this process have started, and the number of its jobs."""

    session: SparkSession
    jobs: int = 1

    @property
    def runs(self) -> bool:
        """Whether Spark still runs: other code may have stopped it."""
        return self.session.sparkContext._jsc is not None  # noqa: SLF001 - no public way


#: Held while Spark starts, until its master is final, and while Spark stops.
_STARTING = threading.RLock()
_started: _Started | None = None


@dataclass
class JobSpark:
    """Spark session of one job.

    Attributes:
        session: the session in which the job runs.
        restart: starts Spark again with another master and replaces the session, which must have
            been stopped before; None if other jobs may use the session.
    """

    session: SparkSession
    restart: Callable[[str], SparkSession] | None = None
    _close: Callable[[], None] = lambda: None
    _settle: Callable[[], None] = lambda: None

    def settle(self) -> None:
        """Mark the master as final: other jobs of the process may use this session from now on."""
        self.restart = None
        self._settle()
        self._settle = lambda: None


@contextmanager
def job_spark(
    settings: Settings,
    master: str | None,
    given: SparkSession | None,
    stop: threading.Event,
    notice: Notice,
    *,
    verbose: bool = False,
) -> Iterator[JobSpark]:
    """Provide a Spark session for one job.

    Args:
        settings: the job's.
        master: Spark's master URL; None runs Spark on this machine.
        given: the caller's session; None starts Spark, or uses the running Spark of this process.
        stop: event of a stop request. After a stop request, the end of Spark's JVM is not an error.
        notice: takes one line for the user.
        verbose: whether Spark's own log is shown.

    Raises:
        StreamtableError: SPARK_UNUSABLE for a session that lacks something, WORKERS_UNUSABLE for
            a cluster, SPARK_ENDED if Spark's JVM ends during the job, or the errors of
            `start_spark`.
    """
    job = _of_others(given, settings, master) if given else _own(settings, master, notice, verbose)
    try:
        check_workers(job.session, task_classes(), stop, notice)
        yield job
    except Exception as error:
        ended = jvm_end(wait=stop.is_set() or is_connection_lost(error))
        if ended is None:
            raise
        if not stop.is_set():
            raise _spark_ended(ended) from error
        notice("stopped together with Spark; the next start repeats the uncommitted batch")
    finally:
        job.settle()
        job._close()  # noqa: SLF001 - of this module


def hold_spark(
    settings: Settings, master: str, notice: Notice, *, verbose: bool = False
) -> tuple[SparkSession, Callable[[], None]]:
    """Keep the Spark of this process running between jobs; start it if there is none.

    Args:
        settings: of the session that holds it.
        master: Spark's master URL if Spark is started.
        notice: takes one line for the user.
        verbose: whether Spark's own log is shown.

    Returns:
        The session, and a function that ends the hold. A Spark of the caller's is not stopped.

    Raises:
        StreamtableError: the errors of `start_spark`.
    """
    global _started  # noqa: PLW0603 - a process has one SparkContext
    with _STARTING:
        if _started is not None and _started.runs:
            _started.jobs += 1
        elif SparkContext._active_spark_context is not None:  # noqa: SLF001 - no public way
            return SparkSession.builder.getOrCreate(), lambda: None
        else:
            notice("starting Spark")
            session = start_spark(settings, master, verbose=verbose, notice=notice, call_sites=True)
            _started = _Started(session)
            register_vector_functions(_started.session.sparkContext)
        return _started.session, _leave


def _own(settings: Settings, master: str | None, notice: Notice, verbose: bool) -> JobSpark:
    """Start Spark for jobs, or use the Spark session that this process already has."""
    global _started  # noqa: PLW0603 - a process has one SparkContext
    _STARTING.acquire()
    try:
        if _started is not None and _started.runs:
            job = _of_others(_started.session, settings, master)
            job._close = _both(job._close, _leave)  # noqa: SLF001
            _started.jobs += 1
        elif SparkContext._active_spark_context is not None:  # noqa: SLF001 - no public way
            job = _of_others(SparkSession.builder.getOrCreate(), settings, master)
        else:
            notice("starting Spark")
            session = start_spark(settings, master, verbose=verbose, notice=notice)
            _started = _Started(session)
            job = JobSpark(session, _close=_leave, _settle=_STARTING.release)

            def restart(other: str) -> SparkSession:
                job.session = start_spark(settings, other, verbose=verbose, notice=notice)
                _started.session = job.session
                return job.session

            job.restart = None if master or is_submitted() else restart
            return job
    except BaseException:
        _STARTING.release()
        raise
    _STARTING.release()
    return job


def _leave() -> None:
    """Remove a job from the started session; the last job stops Spark."""
    global _started
    with _STARTING:
        assert _started is not None, "a job leaves what it has joined"  # noqa: S101
        _started.jobs -= 1
        if _started.jobs:
            return
        session, _started = _started.session, None
        stop_spark(session)


def _of_others(session: SparkSession, settings: Settings, master: str | None) -> JobSpark:
    check_usable(session, settings, master)
    copied = copy_of(session, settings)
    bridge = Bridge(copied)
    bridge.register_functions()
    before = bridge.activate()

    def deactivate() -> None:
        try:
            bridge.deactivate(before)
        except Exception:
            if not jvm_has_ended():
                raise

    return JobSpark(copied, _close=deactivate)


def _both(first: Callable[[], None], second: Callable[[], None]) -> Callable[[], None]:
    def close() -> None:
        try:
            first()
        finally:
            second()

    return close


def _spark_ended(how: str) -> StreamtableError:
    return StreamtableError(
        Condition.SPARK_ENDED,
        how=how,
        hint=(
            "check the logs of Spark and of the system; SIGKILL often means that memory ran out"
            " ('spark.driver.memory' limits Spark's heap); the next start with the same"
            " --checkpoint continues from the last commit"
        ),
    )
