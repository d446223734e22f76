"""Open the checkpoint of an upgrade, and start Spark when it is needed."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from functools import cached_property

from pyspark.sql import SparkSession

from streamtable.catalog.functions import UserFunction
from streamtable.connector_api.preflight import Notice
from streamtable.core.checkpoint_path import CheckpointPath
from streamtable.core.options import Settings
from streamtable.core.settings.session import python_files
from streamtable.jvm.bridge import Bridge
from streamtable.operators.context import LoweringContext
from streamtable.runtime.checkpoint.scan_ends import ScanEnds
from streamtable.runtime.checkpoint.storage.lock import Lock, checkpoint_folder, taken
from streamtable.runtime.opening import JobOpening
from streamtable.runtime.session.spark import set_up_state
from streamtable.runtime.session.user_functions import register
from streamtable.runtime.stop_signals import stop_signals
from streamtable.runtime.upgrade.options import UpgradeOptions


class UpgradeOpening:
    """Opens what an upgrade holds until its end.

    The first use of Spark starts it. A checkpoint in a file system of Hadoop needs Spark's JVM.

    Args:
        stack: closes the checkpoint and Spark at its end.
        settings: the session's settings.
        options: options of the upgrade.
        notice: takes one line about the progress.
        functions: the user's functions that plans may call.
        spark: an existing session; None starts a session and stops it at the end.
    """

    def __init__(
        self,
        stack: ExitStack,
        settings: Settings,
        options: UpgradeOptions,
        notice: Notice,
        functions: Sequence[UserFunction] = (),
        spark: SparkSession | None = None,
    ) -> None:
        self._stack = stack
        self._settings = settings
        self._directory = options.checkpoint
        self._functions = functions
        self.stop = stack.enter_context(stop_signals())
        self._job = JobOpening(
            stack, settings, options.master, spark, self.stop, notice, verbose=options.verbose
        )

    @cached_property
    def path(self) -> CheckpointPath:
        """The checkpoint directory, which may be missing; raises as `checkpoint_folder`."""
        return checkpoint_folder(self._directory, self._job.remote(self._directory))

    @cached_property
    def context(self) -> LoweringContext:
        """The context of the upgrade; raises as `job_spark`."""
        job = self._job.spark()
        job.settle()
        register(self._functions, python_files(self._settings), job.session)
        set_up_state(job.session, self._settings)
        bridge = Bridge(job.session)
        return LoweringContext(
            job.session,
            bridge,
            self._settings,
            bounded=True,
            patient=False,
            directory=self.path,
            source_of=ScanEnds(self.path, bridge).source_of,
        )

    def lock(self) -> Lock:
        """Lock the checkpoint; create its directory if it is missing. Raises as `taken`."""
        _, lock = taken(self._directory, self._job.remote(self._directory))
        self._stack.callback(lock.close)
        return lock
