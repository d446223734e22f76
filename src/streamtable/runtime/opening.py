"""Open the checkpoint of a job and start Spark, in the order that the checkpoint's place needs."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextlib import ExitStack

from pyspark.sql import SparkSession

from streamtable.connector_api.preflight import Notice
from streamtable.core.options import Settings
from streamtable.core.settings.execution import CHECKPOINT_LEASE
from streamtable.jvm.bridge import Bridge
from streamtable.plan.sink.sink import Sink
from streamtable.runtime.checkpoint.checkpoint import Checkpoint, job_checkpoint
from streamtable.runtime.checkpoint.storage.remote import RemoteCheckpoints, is_remote
from streamtable.runtime.session.sessions import JobSpark, job_spark


class JobOpening:
    """Opens what a job holds until its end. The first use of Spark starts it.

    Args:
        stack: closes the checkpoint and Spark at its end.
        settings: the job's.
        master: Spark's master URL; None runs Spark on this machine.
        given: the caller's Spark session, or None.
        stop: event of a stop request.
        notice: takes one line for the user.
        verbose: whether Spark's own log is shown.
    """

    def __init__(
        self,
        stack: ExitStack,
        settings: Settings,
        master: str | None,
        given: SparkSession | None,
        stop: threading.Event,
        notice: Notice,
        *,
        verbose: bool,
    ) -> None:
        self._stack = stack
        self._settings = settings
        self._master = master
        self._given = given
        self._stop = stop
        self._notice = notice
        self._verbose = verbose
        self._spark: JobSpark | None = None

    def spark(self) -> JobSpark:
        """Return the Spark session of the job; raises as `job_spark`."""
        if self._spark is None:
            self._spark = self._stack.enter_context(
                job_spark(
                    self._settings,
                    self._master,
                    self._given,
                    self._stop,
                    self._notice,
                    verbose=self._verbose,
                )
            )
        return self._spark

    def checkpoint(
        self, directory: str | None, plans: Mapping[str, Sink], *, bounded: bool
    ) -> Checkpoint:
        """Open the checkpoint of the job. File systems of Hadoop need Spark's JVM.

        The arguments and errors are those of `job_checkpoint`.
        """
        remote = self.remote(directory)
        return self._stack.enter_context(
            job_checkpoint(directory, plans, self._notice, remote, bounded=bounded)
        )

    def remote(self, directory: str | None) -> RemoteCheckpoints | None:
        """Return what opens a checkpoint in a file system of Hadoop; None for any other one."""
        if not is_remote(directory):
            return None
        bridge, lease = Bridge(self.spark().session), self._settings[CHECKPOINT_LEASE]
        return RemoteCheckpoints(bridge, lease, self._stop, self._notice)
