"""Spark of a command that only reads, and the context of its reads."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from streamtable.catalog.functions import UserFunction
from streamtable.connector_api.preflight import Notice
from streamtable.core.options import Settings
from streamtable.core.session_settings import python_files
from streamtable.jvm.bridge import Bridge
from streamtable.operators.context import LoweringContext
from streamtable.runtime.session.sessions import job_spark
from streamtable.runtime.session.user_functions import register


@contextmanager
def reading_context(
    settings: Settings,
    master: str | None,
    functions: Sequence[UserFunction],
    notice: Notice,
    *,
    verbose: bool,
) -> Iterator[LoweringContext]:
    """Start Spark for the block; yield the context of bounded reads without a job.

    Args:
        settings: the session's settings.
        master: Spark's master URL; None is this machine.
        functions: the user's functions.
        notice: takes one line for the user.
        verbose: whether Spark's own log is shown.

    Raises:
        StreamtableError: the errors of `job_spark`.
    """
    stop = threading.Event()  # Ctrl-C interrupts a read; there is nothing to finish
    with job_spark(settings, master, None, stop, notice, verbose=verbose) as job:
        job.settle()
        register(functions, python_files(settings), job.session)
        yield LoweringContext(job.session, Bridge(job.session), settings, bounded=True)
