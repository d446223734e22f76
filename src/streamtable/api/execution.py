"""What the statements of a session start: jobs in the background, and queries that read rows."""

from __future__ import annotations

import atexit
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from streamtable.api.family import refuse_call
from streamtable.api.hold import SparkHold
from streamtable.api.job import Job
from streamtable.api.jobs import Jobs
from streamtable.api.query import Planned, Query
from streamtable.api.result import Answered, Result, ok
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.settings.execution import CHECKPOINT_DIRECTORY, RUNTIME_MODE, RuntimeMode
from streamtable.core.settings.job import JOB_NAME
from streamtable.session import Session as Engine

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from streamtable.core.moment import Moment
    from streamtable.plan.sink.plan_read import TableRead
    from streamtable.runtime.background import Job as Running
    from streamtable.runtime.run_queries import JobObserver
    from streamtable.runtime.select import Receiver


class Execution:
    """Starts what a loaded text asks for.

    Args:
        hold: Spark of the session.
        jobs: the session's jobs; a started job is added.
        notice: takes one line for the user.
        check_open: raises INVALID_CALL if the session is closed.
        close: closes the session; called when the process ends after Spark has started.
    """

    def __init__(
        self,
        hold: SparkHold,
        jobs: Jobs,
        notice: Callable[[str], None],
        check_open: Callable[[], None],
        close: Callable[[], None],
    ) -> None:
        self._hold = hold
        self._jobs = jobs
        self._started: list[Running] = []
        self._notice = notice
        self._check_open = check_open
        self._close = close

    @contextmanager
    def spark(self, loaded: Engine) -> Iterator[SparkSession]:
        """Provide Spark; if its JVM ends meanwhile, the next call starts Spark again."""
        atexit.unregister(self._close)
        atexit.register(self._close)
        try:
            yield self._hold.session(loaded.settings.current())
        except StreamtableError as error:
            if error.condition is Condition.SPARK_ENDED:
                self._hold.release()
            raise

    def outcome(self, loaded: Engine, file: str) -> Callable[[], Result]:
        """Return what makes the result of a text, after a check of everything known before."""
        results = len(loaded.selects) + len(loaded.answers) + len(loaded.commands)
        if not loaded.statements:
            hint = "write a statement, such as SHOW TABLES"
            raise StreamtableError(Condition.EMPTY_SCRIPT, file=file, hint=hint)
        if results > 1 or (results and loaded.plans):
            reason = "the text has several results"
            hint = "run INSERTs, and each SELECT, SHOW, DESCRIBE or EXPLAIN, by a call of its own"
            refuse_call("execute_sql()", reason, hint)
        if loaded.plans:
            self._hold.check()
            return lambda: self.start_job(loaded)
        if loaded.selects:
            return lambda: self.query(loaded)
        if loaded.commands:
            (command,) = loaded.commands
            self._jobs.check(command)
            return lambda: Answered(self._jobs.run(command))
        return lambda: Answered(loaded.answers[0]) if loaded.answers else ok()

    def query(self, loaded: Engine) -> Query:
        """Return the query of a text with one SELECT; it runs when its rows are asked for."""
        settings = loaded.settings.current()
        (texts,), (select,) = loaded.selects, loaded.queries
        batch = settings[RUNTIME_MODE] is RuntimeMode.BATCH

        def run(plan: Any, receiver: Receiver, stop: threading.Event, *, bounded: bool) -> None:
            self._check_open()
            from streamtable.runtime.job import RunOptions
            from streamtable.runtime.scripts import read_query

            functions = loaded.catalog.functions.made
            with self.spark(loaded):
                read_query(
                    plan,
                    settings,
                    RunOptions(bounded=bounded),
                    self._notice,
                    receiver,
                    functions,
                    self._hold.given,
                    stop,
                )

        return Query(Planned(texts, lambda: loaded.plan_values(select), settings, run, batch))

    def read(self, loaded: Engine, plan: TableRead, moment: Moment) -> DataFrame:
        """Return the rows of a table at a moment; Spark reads them when the DataFrame is used."""
        self._check_open()
        with self.spark(loaded) as spark:
            from streamtable.runtime.stored.command import frame_at

            settings, functions = loaded.settings.current(), loaded.catalog.functions.made
            return frame_at(plan, moment, settings, functions, spark, self._notice)

    def start_job(self, loaded: Engine) -> Job:
        """Start the INSERTs of a text as one job.

        The job starts behind the earlier ones of the session, because they may create topics that
        it reads.
        """
        earlier = [job for job in self._started if job.running]
        settings = loaded.job_settings
        sinks = tuple(plan.table.name for plan in loaded.plans)
        name = settings.get(JOB_NAME) or f"insert-into_{','.join(sinks)}"
        keeps = settings.has(CHECKPOINT_DIRECTORY)

        def start(ended: Callable[[], None]) -> Running:
            from streamtable.runtime.background import Job as Running
            from streamtable.runtime.job import RunOptions

            def run(observer: JobObserver) -> None:
                try:
                    for job in earlier:
                        job.wait_for_start(observer.stop)
                    with self.spark(loaded):
                        loaded.run(RunOptions(), self._notice, self._hold.given, observer=observer)
                finally:
                    ended()

            running = Running(run)
            self._started = [*earlier, running]
            return running

        job = Job(self._jobs.next_id(), name, sinks, start, keeps=keeps)
        self._jobs.add(job)
        return job
