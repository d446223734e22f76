"""Spark of a command that only reads, and the context of its reads."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cached_property

from streamtable.catalog.functions import UserFunction
from streamtable.connector_api.preflight import Notice
from streamtable.core.checkpoint_path import CheckpointPath
from streamtable.core.options import Settings
from streamtable.core.settings.session import python_files
from streamtable.jvm.bridge import Bridge
from streamtable.operators.context import LoweringContext
from streamtable.runtime.checkpoint.storage.lock import checkpoint_folder
from streamtable.runtime.opening import JobOpening
from streamtable.runtime.session.user_functions import register


class ReadOpening:
    """Opens what a command that reads needs. The first use of Spark starts it.

    A checkpoint in a file system of Hadoop needs Spark's JVM.

    Args:
        stack: stops Spark at its end.
        settings: the session's settings.
        master: Spark's master URL; None is this machine.
        functions: the user's functions.
        notice: takes one line for the user.
        verbose: whether Spark's own log is shown.
    """

    def __init__(
        self,
        stack: ExitStack,
        settings: Settings,
        master: str | None,
        functions: Sequence[UserFunction],
        notice: Notice,
        *,
        verbose: bool,
    ) -> None:
        self._settings = settings
        self._functions = functions
        stop = threading.Event()  # Ctrl-C interrupts a read; there is nothing to finish
        self._job = JobOpening(stack, settings, master, None, stop, notice, verbose=verbose)

    def checkpoint(self, directory: str) -> CheckpointPath:
        """Return a checkpoint directory, which may be missing; raises as `checkpoint_folder`."""
        return checkpoint_folder(directory, self._job.remote(directory))

    @cached_property
    def context(self) -> LoweringContext:
        """The context of bounded reads without a job; raises as `job_spark`."""
        job = self._job.spark()
        job.settle()
        register(self._functions, python_files(self._settings), job.session)
        return LoweringContext(job.session, Bridge(job.session), self._settings, bounded=True)


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
    with ExitStack() as stack:
        yield ReadOpening(stack, settings, master, functions, notice, verbose=verbose).context
