"""What a script asks to be run: its INSERTs as one job, then its SELECTs one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import SparkSession

from streamtable.catalog.functions import PythonFunction
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.options import Settings
from streamtable.core.session_settings import python_files
from streamtable.core.settings import CHECKPOINT_DIRECTORY
from streamtable.plan.nodes import Collect, Sink
from streamtable.runtime.job import RunOptions, Watcher, run_job
from streamtable.runtime.modes import ends
from streamtable.runtime.preflight import Notice
from streamtable.runtime.python_functions import register
from streamtable.runtime.select import Show, run_select
from streamtable.runtime.spark import start_spark, stop_spark


@dataclass(frozen=True)
class Script:
    """What is to be run.

    Attributes:
        plans: one per INSERT.
        selects: one per SELECT on its own.
        functions: the user's Python functions.
    """

    plans: Sequence[Sink]
    selects: Sequence[Collect]
    settings: Settings
    functions: Sequence[PythonFunction] = ()


def run_script(
    script: Script,
    options: RunOptions,
    notice: Notice,
    show: Show,
    spark: SparkSession | None = None,
    watcher: Watcher | None = None,
) -> None:
    """Runs all of it; a SELECT sees what the INSERTs of the script have written.

    Raises:
        StreamtableError: NOT_YET for a SELECT behind something that never ends; whatever the job
            or a query meets.
    """
    plans, settings, functions = script.plans, script.settings, script.functions
    if not script.selects:
        run_job(plans, settings, options, notice, spark, functions, watcher)
        return
    _check_reached(plans, script.selects, options)
    if options.checkpoint or settings.has(CHECKPOINT_DIRECTORY):
        notice("a SELECT begins anew in every run; the checkpoint is that of the INSERTs")
    own = spark or start_spark(settings, options.master, verbose=options.verbose)
    try:
        if plans:
            run_job(plans, settings, options, notice, own, functions, watcher)
        register(functions, python_files(settings), own)
        for plan in script.selects:
            stop = None if watcher is None else watcher.stop
            run_select(plan, settings, options, notice, show, own, stop)
    finally:
        if spark is None:
            stop_spark(own)


def _check_reached(plans: Sequence[Sink], selects: Sequence[Collect], options: RunOptions) -> None:
    before: list[Sink | Collect] = list(plans)
    for select in selects:
        if not options.bounded and not all(map(ends, before)):
            raise StreamtableError(
                Condition.NOT_YET,
                at=select.at,
                what="SELECT behind a statement that runs without an end",
                hint="run with --bounded, or put it into a script of its own",
            )
        before.append(select)
