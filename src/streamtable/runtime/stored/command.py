"""A read as a whole: Spark, the read, its lines, and counts of skipped records; or a DataFrame."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from pyspark.sql import DataFrame, SparkSession

from streamtable.catalog.functions import UserFunction
from streamtable.connector_api.endpoints import source_of
from streamtable.connector_api.preflight import Notice
from streamtable.core.moment import Moment
from streamtable.core.options import Settings
from streamtable.core.settings.session import python_files
from streamtable.jvm.bridge import Bridge
from streamtable.operators.context import LoweringContext
from streamtable.plan.sink.plan_read import TableRead
from streamtable.runtime.metrics.omitted_records import omitted_records
from streamtable.runtime.reading import reading_context
from streamtable.runtime.session.sessions import job_spark
from streamtable.runtime.session.user_functions import register
from streamtable.runtime.stored.output import Output, write_rows
from streamtable.runtime.stored.read import View, read_stored


@dataclass(frozen=True)
class Asked:
    """What to read and how to show it.

    Attributes:
        moments: one moment, or two for a difference.
        limit: maximum number of rows; None for all.
    """

    view: View
    moments: Sequence[Moment]
    output: Output
    limit: int | None = None


def run_read(
    plan: TableRead,
    asked: Asked,
    settings: Settings,
    master: str | None,
    functions: Sequence[UserFunction],
    notice: Notice,
    show: Callable[[str], None],
    *,
    verbose: bool = False,
) -> None:
    """Read a table and show its rows.

    Args:
        plan: the read.
        asked: what to show.
        settings: the session's settings.
        master: Spark's master URL; None is this machine.
        functions: the user's functions.
        notice: takes one line for the user.
        show: takes one line of the result.
        verbose: whether Spark's own log is shown.

    Raises:
        StreamtableError: any error of the read.
    """
    with reading_context(settings, master, functions, notice, verbose=verbose) as context:
        stored = read_stored(plan, asked.view, asked.moments, context, notice)
        if asked.limit is not None:
            stored = replace(stored, frame=stored.frame.limit(asked.limit))
        table = plan.scan.table
        source = source_of(table)
        write_rows(stored, asked.output, settings, context.bridge, show, table.name, source.explain)
        counts = {name: counters.values() for name, counters in context.counters.items()}
        for found in omitted_records(counts):
            notice(str(found))


def frame_at(
    plan: TableRead,
    moment: Moment,
    settings: Settings,
    functions: Sequence[UserFunction],
    spark: SparkSession,
    notice: Notice,
) -> DataFrame:
    """Return the rows of a table at a moment as a lazy DataFrame, in a copy of a Spark session.

    Raises:
        StreamtableError: any error that is known before the records are read.
    """
    with job_spark(settings, None, spark, threading.Event(), notice) as job:
        register(functions, python_files(settings), job.session)
        context = LoweringContext(job.session, Bridge(job.session), settings, bounded=True)
        return read_stored(plan, View.CONTENT, [moment], context, notice).frame
