"""Execution of a script: its INSERTs as one job, then its SELECTs one after the other."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import SparkSession

from streamtable.catalog.functions import UserFunction
from streamtable.connector_api.preflight import Notice
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.options import Settings
from streamtable.core.settings.execution import CHECKPOINT_DIRECTORY
from streamtable.core.settings.session import python_files
from streamtable.core.settings.spark import unknown_keys
from streamtable.jvm.install.installed_spark import installed_spark, minor_of
from streamtable.plan.sink.sink import Collect, Sink
from streamtable.runtime.job import RunOptions, run_job
from streamtable.runtime.printer import Show, printer_of
from streamtable.runtime.query.modes import is_bounded
from streamtable.runtime.run_queries import JobObserver
from streamtable.runtime.select import Receiver, run_select
from streamtable.runtime.session.sessions import job_spark
from streamtable.runtime.session.user_functions import register
from streamtable.runtime.stop_signals import stop_signals


@dataclass(frozen=True)
class Script:
    """Statements of a script to run.

    Attributes:
        plans: one per INSERT.
        selects: one per SELECT statement.
        settings: the settings of the job as a whole.
        functions: the user's functions.
    """

    plans: Sequence[Sink]
    selects: Sequence[Collect]
    settings: Settings
    functions: Sequence[UserFunction] = ()


def run_script(
    script: Script,
    options: RunOptions,
    notice: Notice,
    show: Show,
    spark: SparkSession | None = None,
    observer: JobObserver | None = None,
) -> None:
    """Run all statements of a script; a SELECT reads what the INSERTs of the script have written.

    Raises:
        StreamtableError: NOT_YET for a SELECT after a statement that never ends; any error of the
            job or of a query.
    """
    plans, settings, functions = script.plans, script.settings, script.functions
    version = spark.version if spark else installed_spark().version
    for key in unknown_keys(settings.passthrough, minor_of(version)):
        notice(
            f"setting '{key}' is unknown to Spark {version}; it has an effect only if a plugin"
            " reads it"
        )
    if not script.selects:
        run_job(plans, settings, options, notice, spark, functions, observer)
        return
    _check_reached(plans, script.selects, options)
    if options.checkpoint or settings.has(CHECKPOINT_DIRECTORY):
        notice(
            "a SELECT starts from the beginning in every run; the checkpoint applies only to"
            " INSERTs"
        )
    stop = threading.Event() if observer is None else observer.stop
    with (
        stop_signals(stop),
        job_spark(settings, options.master, spark, stop, notice, verbose=options.verbose) as job,
    ):
        job.settle()
        if plans:
            observed = observer or JobObserver(stop=stop)
            run_job(plans, settings, options, notice, job.session, functions, observed)
        register(functions, python_files(settings), job.session)
        for plan in script.selects:
            if not stop.is_set():
                printer = printer_of(
                    plan, plan.settings, show, bounded=options.bounded or is_bounded(plan)
                )
                run_select(plan, plan.settings, options, notice, printer, job.session, stop)


def read_query(
    plan: Collect,
    settings: Settings,
    options: RunOptions,
    notice: Notice,
    receiver: Receiver,
    functions: Sequence[UserFunction],
    spark: SparkSession | None,
    stop: threading.Event,
) -> None:
    """Run one SELECT for a receiver, until its input ends or the stop event is set.

    Raises:
        StreamtableError: any error of the query.
    """
    with job_spark(settings, options.master, spark, stop, notice, verbose=options.verbose) as job:
        job.settle()
        register(functions, python_files(settings), job.session)
        if not stop.is_set():
            run_select(plan, settings, options, notice, receiver, job.session, stop)


def _check_reached(plans: Sequence[Sink], selects: Sequence[Collect], options: RunOptions) -> None:
    before: list[Sink | Collect] = list(plans)
    for select in selects:
        if not options.bounded and not all(map(is_bounded, before)):
            raise StreamtableError(
                Condition.NOT_YET,
                at=select.at,
                what="SELECT after an unbounded statement",
                hint="run with --bounded, or move it to a separate script",
            )
        before.append(select)
