"""Open the checkpoint of an upgrade, and start Spark when it is needed."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import cached_property

from pyspark.sql import SparkSession

from streamtable.catalog.functions import UserFunction
from streamtable.connector_api.preflight import Notice
from streamtable.core.checkpoint_path import CheckpointPath
from streamtable.core.options import Settings
from streamtable.core.session_settings import python_files
from streamtable.core.settings import CHECKPOINT_LEASE
from streamtable.jvm.bridge import Bridge
from streamtable.operators.context import LoweringContext
from streamtable.runtime.checkpoint.lock import Lock, checkpoint_folder, taken
from streamtable.runtime.checkpoint.remote import RemoteCheckpoints, is_remote
from streamtable.runtime.session.sessions import job_spark
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
        self._options = options
        self._notice = notice
        self._functions = functions
        self._given = spark
        self.stop = stack.enter_context(stop_signals())

    @cached_property
    def path(self) -> CheckpointPath:
        """The checkpoint directory, which may be missing; raises as `checkpoint_folder`."""
        return checkpoint_folder(self._options.checkpoint, self._remote)

    @cached_property
    def context(self) -> LoweringContext:
        """The context of the upgrade; raises as `job_spark`."""
        return replace(self._started, directory=self.path)

    def lock(self) -> Lock:
        """Lock the checkpoint; create its directory if it is missing. Raises as `taken`."""
        _, lock = taken(self._options.checkpoint, self._remote)
        self._stack.callback(lock.close)
        return lock

    @cached_property
    def _remote(self) -> RemoteCheckpoints | None:
        if not is_remote(self._options.checkpoint):
            return None
        lease = self._settings[CHECKPOINT_LEASE]
        return RemoteCheckpoints(self._started.bridge, lease, self.stop, self._notice)

    @cached_property
    def _started(self) -> LoweringContext:
        options, settings = self._options, self._settings
        job = self._stack.enter_context(
            job_spark(
                settings,
                options.master,
                self._given,
                self.stop,
                self._notice,
                verbose=options.verbose,
            )
        )
        job.settle()
        register(self._functions, python_files(settings), job.session)
        set_up_state(job.session, settings)
        bridge = Bridge(job.session)
        return LoweringContext(job.session, bridge, settings, bounded=True, patient=False)
