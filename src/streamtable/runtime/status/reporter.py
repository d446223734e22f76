"""Report the status of a job: write its document about once a second while it runs."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TextIO

from streamtable.core.checkpoint_path import CheckpointPath
from streamtable.runtime.status.document import (
    FILE,
    KILLED,
    JobError,
    JobState,
    StatusDocument,
    read_document,
    this_host,
    this_process,
    write_document,
)
from streamtable.runtime.status.job_list import add_entry, folder_of, keep_ended
from streamtable.runtime.status.lock import inode_of, take_lock

#: Interval of the document, in seconds.
_INTERVAL_S = 1.0

#: Interval of the document while nothing but the clock changes, in seconds.
_QUIET_S = 15.0

#: Metrics that change with the clock alone.
_CLOCKS = ("sourceIdleTime", "proofAge")


@dataclass(frozen=True)
class ReportedJob:
    """What a reporter knows about its job from the start.

    Attributes:
        name: name of the job.
        kind: `script` or `ingestion`.
        directory: checkpoint directory; a `Path` if it is on a local disk.
        temporary: whether the directory is deleted at the end.
        queries: see `StatusDocument.queries`.
    """

    name: str
    kind: str
    directory: CheckpointPath
    temporary: bool
    queries: Mapping[str, Mapping[str, Any]]


class StatusReporter:
    """Writes the status document of a job from the start to the end of a `with` block.

    A thread writes the document, so that a slow disk does not delay the job. The document is
    complete before the block ends, while the checkpoint is still locked. A status that cannot be
    written is reported once and ends nothing. If the checkpoint is in a remote file system, the
    document is in the user's list of jobs on this machine.

    Args:
        job: the job.
        metrics: `JobMetrics.values`.
        stop: set when a stop is requested.
        notice: takes one line for the user.
        reader: progress of an ingestion job's reader.
    """

    def __init__(
        self,
        job: ReportedJob,
        metrics: Callable[[], Mapping[str, Mapping[str, Mapping[str, Any]]]],
        stop: threading.Event,
        notice: Callable[[str], None],
        reader: Callable[[], Mapping[str, Any] | None] = lambda: None,
    ) -> None:
        self._metrics = metrics
        self._stop = stop
        self._notice = notice
        self._reader = reader
        self._ended = threading.Event()
        self._reported = False
        self._lock: TextIO | None = None
        if isinstance(job.directory, Path):
            self._directory = job.directory
        else:
            self._directory = folder_of(str(job.directory))
            self._safely(self._lock_folder)
        earlier = read_document(self._directory / FILE)
        now = time.time()
        self._document = StatusDocument(
            name=job.name,
            kind=job.kind,
            state=JobState.STARTING,
            process=this_process(),
            host=this_host(),
            stops_on_signal=threading.current_thread() is threading.main_thread(),
            directory=str(job.directory),
            temporary=job.temporary,
            lock=inode_of(self._directory),
            started=now,
            updated=now,
            last_error=None if earlier is None else _last_error(earlier, self._directory),
            queries=job.queries,
        )
        self._written: tuple[object, float] = (None, 0.0)
        self._thread = threading.Thread(target=self._run, name="streamtable-status", daemon=True)

    def running(self) -> None:
        """Note that the queries run."""
        if self._document.state is JobState.STARTING:
            self._document = replace(self._document, state=JobState.RUNNING)

    def document(self) -> StatusDocument:
        """Return the status now; any thread may call this."""
        stopping = self._stop.is_set() and self._document.state.lives
        found = self._now()
        return replace(found, state=JobState.STOPPING) if stopping else found

    def __enter__(self) -> Self:
        self._safely(lambda: write_document(self._directory, self._document))
        self._safely(lambda: add_entry(self._directory))
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ended.set()
        self._thread.join()
        now = time.time()
        if error is not None:
            failed = JobError.of(error, now)
            self._document = replace(
                self._document, state=JobState.FAILED, error=failed, last_error=failed
            )
        else:
            state = JobState.STOPPED if self._stop.is_set() else JobState.FINISHED
            self._document = replace(self._document, state=state)
        self._document = replace(self._now(), ended=now)
        self._safely(lambda: write_document(self._directory, self._document))
        if self._document.temporary:
            self._safely(lambda: keep_ended(self._document))
        if self._lock is not None:
            self._lock.close()

    def _lock_folder(self) -> None:
        """Lock the folder of the document, which is not the checkpoint and its lock."""
        self._directory.mkdir(mode=0o700, exist_ok=True)
        self._lock = take_lock(self._directory)

    def _run(self) -> None:
        while not self._ended.wait(_INTERVAL_S):
            if self._stop.is_set() and self._document.state.lives:
                self._document = replace(self._document, state=JobState.STOPPING)
            self._safely(self._write_changed)

    def _write_changed(self) -> None:
        found = self._now()
        said = _without_clocks(found)
        before, at = self._written
        now = time.monotonic()  # the clock may be set back
        if said != before or now >= at + _QUIET_S:
            write_document(self._directory, found)
            self._written = (said, now)

    def _now(self) -> StatusDocument:
        return replace(
            self._document, updated=time.time(), metrics=self._metrics(), reader=self._reader()
        )

    def _safely(self, write: Callable[[], None]) -> None:
        try:
            write()
        except OSError as error:
            if not self._reported:
                self._reported = True
                with suppress(Exception):
                    self._notice(
                        f"the status of the job cannot be written: {error.strerror or error};"
                        " `streamtable jobs` may not show it"
                    )


def _last_error(earlier: StatusDocument, directory: Path) -> JobError | None:
    """Return the newest error of earlier runs; a run that has not ended here was killed."""
    if earlier.state.lives and earlier.lock == inode_of(directory):
        return JobError(None, KILLED, earlier.updated)
    return earlier.last_error


def _without_clocks(document: StatusDocument) -> object:
    metrics = [
        {key: value for key, value in values.items() if key not in _CLOCKS}
        for owners in (document.metrics["tables"], document.metrics["queries"])
        for values in owners.values()
    ]
    return (document.state, metrics, document.reader)
