"""Checkpoints in file systems of Hadoop: which paths they are, and the lease of a job.

A lease is a lock that ends by itself, because a process on another machine may disappear without a
trace. `io.streamtable.checkpoint.Lease` renews it, and refuses writes without it.
"""

from __future__ import annotations

import os
import re
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from streamtable.core.durations import format_duration
from streamtable.core.errors import Condition, StreamtableError
from streamtable.jvm.bridge import Bridge
from streamtable.jvm.faults import JavaError, first_line, is_connection_lost
from streamtable.jvm.install.jars import JarSet
from streamtable.runtime.checkpoint.storage.remote_path import RemotePath, translated
from streamtable.runtime.session.configuration import FILES, FILES_KEY

_REMOTE = re.compile(r"(hdfs|s3a|abfss?|gs)://", re.IGNORECASE)
_JARS = Path(__file__).with_name("ivy.xml")

#: Scheme -> the class of its file system, if PySpark does not contain it, and its Maven artifact.
_CLASSES = {
    "s3a": ("org.apache.hadoop.fs.s3a.S3AFileSystem", "org.apache.hadoop:hadoop-aws:3.5.0"),
    "abfs": (
        "org.apache.hadoop.fs.azurebfs.AzureBlobFileSystem",
        "org.apache.hadoop:hadoop-azure:3.5.0",
    ),
    "abfss": (
        "org.apache.hadoop.fs.azurebfs.SecureAzureBlobFileSystem",
        "org.apache.hadoop:hadoop-azure:3.5.0",
    ),
    "gs": (
        "com.google.cloud.hadoop.fs.gcs.GoogleHadoopFileSystem",
        "com.google.cloud.bigdataoss:gcs-connector",
    ),
}
_RIGHTS = {
    "hdfs": "give the user of the job read and write permission on the directory",
    "s3a": (
        "allow s3:GetObject, s3:PutObject and s3:DeleteObject for the directory and s3:ListBucket"
        " for the bucket, and check the 'spark.hadoop.fs.s3a.*' credentials"
    ),
}
_POLL_S = 0.5


def is_remote(directory: str | None) -> bool:
    """Whether a checkpoint directory is in a file system of Hadoop, which needs Spark's JVM."""
    return directory is not None and _REMOTE.match(directory) is not None


@dataclass(frozen=True)
class RemoteLock:
    """The lease of this process on a checkpoint."""

    _lease: Any
    _uri: str

    def check(self) -> None:
        """Raise CHECKPOINT_LOST if another process has taken the checkpoint."""
        try:
            self._lease.check()
        except JavaError as error:
            raise translated(error, self._uri) from None

    def close(self) -> None:
        """Give the checkpoint back. A lease that cannot be given back expires."""
        try:
            self._lease.close()
        except Exception as error:
            if not (isinstance(error, JavaError) or is_connection_lost(error)):
                raise


@dataclass(frozen=True)
class RemoteCheckpoints:
    """Opens checkpoints in file systems of Hadoop.

    Attributes:
        bridge: the JVM side.
        lease: the time after which a lease expires that is not renewed.
        stop: event of a stop request, which ends the wait for a lease.
        notice: takes one line for the user.
    """

    bridge: Bridge
    lease: timedelta
    stop: threading.Event
    notice: Callable[[str], None]

    def folder(self, directory: str) -> RemotePath:
        """Return the folder of a checkpoint, without its lease.

        Raises:
            StreamtableError: DRIVER_MISSING or CHECKPOINT_UNREADABLE.
        """
        self._load(directory)
        try:
            store = self.bridge.java.checkpoint.RemoteStore.open(
                self.bridge.java_session, directory
            )
        except JavaError as error:
            raise _unusable(directory, error) from error
        return RemotePath(store, str(store.root()))

    def take(self, directory: str) -> tuple[RemotePath, RemoteLock]:
        """Take the lease of a checkpoint. Wait for the end of a lease that is not renewed.

        Args:
            directory: the URI.

        Raises:
            StreamtableError: CHECKPOINT_HELD by another process; DRIVER_MISSING,
                CHECKPOINT_UNREADABLE.
        """
        if str(self.bridge.java_session.conf().get(FILES_KEY)) != FILES:
            raise StreamtableError(
                Condition.CHECKPOINT_UNREADABLE,
                checkpoint=directory,
                reason=f"'{FILES_KEY}' is not {FILES}, which a lease needs",
                hint="remove the setting",
            )
        folder = self.folder(directory)
        store = folder._store  # noqa: SLF001 - of this package
        try:
            store.tryOut()
            lease = self._wait(store, directory)
        except JavaError as error:
            raise _unusable(directory, error) from error
        return folder, RemoteLock(lease, str(folder))

    def _wait(self, store: Any, directory: str) -> Any:
        ttl = self.lease // timedelta(milliseconds=1)
        java = self.bridge.java.checkpoint.LeaseRequest
        request = java(store, socket.gethostname(), os.getpid(), ttl)
        first: str | None = None
        while (held := request.attempt()) is not None:
            renewal = str(held.renewal())
            left = timedelta(seconds=max(1, round(int(held.leftMs()) / 1_000)))
            if first is None:
                first, asked = renewal, time.monotonic()
                by = held.by()
                told = False
            renews_s = int(by.ttlMs()) / 3_000
            if renewal != first or self.stop.is_set():
                raise _held(directory, held, left)
            # A living holder renews its lease within this time.
            if not told and time.monotonic() > asked + renews_s:
                told = True
                self.notice(
                    f"checkpoint {directory}: {by} and does not renew it; waiting"
                    f" {format_duration(left)} until its lease expires"
                )
            self.stop.wait(_POLL_S)
        return request.lease()

    def _load(self, directory: str) -> None:
        """Add the classes of the file system to Spark's class path, if they are missing."""
        scheme = directory.partition(":")[0].lower()
        if scheme not in _CLASSES or self.bridge.has_class(_CLASSES[scheme][0]):
            return
        name, artifact = _CLASSES[scheme]
        reason = "they are not on Spark's class path"
        if scheme == "s3a" and self.bridge.is_local:
            try:
                jars = JarSet("s3a", "the file system of s3a:// paths", "51 jars, 16 MB", _JARS)
                for jar in jars.jars():
                    self.bridge.add_jar(jar)
            except StreamtableError as error:
                reason = f"they could not be fetched: {error.values.get('reason', error.condition)}"
            else:
                return
        raise StreamtableError(
            Condition.CHECKPOINT_UNREADABLE,
            checkpoint=directory,
            reason=f"the classes of '{scheme}://' are missing ({name}): {reason}",
            hint=f"SET 'spark.jars.packages' = '{artifact}', or name their jars in 'spark.jars'",
        )


def _held(directory: str, held: Any, left: timedelta) -> StreamtableError:
    by = held.by()
    return StreamtableError(
        Condition.CHECKPOINT_HELD,
        checkpoint=directory,
        pid=int(by.pid()),
        host=str(by.host()),
        since=str(by.since()),
        hint=f"stop that job first, or use another --checkpoint; its lease expires in"
        f" {format_duration(left)} unless it is renewed",
    )


def _unusable(directory: str, error: JavaError) -> StreamtableError:
    fault = error.java_exception
    kind, text = str(fault.getClass().getSimpleName()), first_line(str(fault.getMessage()))
    scheme = directory.partition(":")[0].lower()
    hint = "check the address and the 'spark.hadoop.*' settings of its file system"
    if kind in ("AccessControlException", "AccessDeniedException"):
        hint = _RIGHTS.get(scheme, "give the user of the job read and write permission")
    return StreamtableError(
        Condition.CHECKPOINT_UNREADABLE, checkpoint=directory, reason=f"{kind}: {text}", hint=hint
    )
