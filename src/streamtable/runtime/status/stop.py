"""Stop a job from another process: SIGTERM to the process that holds its checkpoint."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from dataclasses import dataclass

from streamtable.core.errors import Condition, StreamtableError
from streamtable.runtime.status.document import FILE, JobState, StatusDocument, read_document
from streamtable.runtime.status.found import FoundJob, job_at
from streamtable.runtime.status.job_list import ended_document
from streamtable.runtime.status.lock import holder_of

_POLL_S = 0.1


@dataclass(frozen=True)
class Outcome:
    """End of a job after a stop request.

    Attributes:
        document: the last document of the job; None if its process ended without writing it.
        seconds: time from the request to the end.
    """

    document: StatusDocument | None
    seconds: float

    @property
    def clean(self) -> bool:
        """Whether the job ended as requested, or at the end of its input."""
        ended = (JobState.STOPPED, JobState.FINISHED)
        return self.document is not None and self.document.state in ended


def stop_job(job: FoundJob, timeout: float) -> Outcome:
    """Ask a job to stop, and wait for its end.

    Only the process that holds the lock of the checkpoint, with the start time in the status
    document, gets the signal.

    Args:
        job: the job, as `find_job` returned it.
        timeout: longest wait in seconds.

    Raises:
        StreamtableError: JOB_NOT_STOPPED if the job does not run, if its process cannot be
            identified or does not obey signals, or after the timeout.
    """
    document = _running(job)
    begun = time.monotonic()
    _signal(job, document)
    process = document.process
    while time.monotonic() < begun + timeout:
        ended = _ended(job, document)
        if ended is not None or not process.alive:
            # The process may have written its last document after the first look.
            return Outcome(ended or _ended(job, document), time.monotonic() - begun)
        time.sleep(_POLL_S)
    raise _refusal(
        job,
        f"process {process.pid} still ends after {timeout:g} s",
        "it has the request; `streamtable status` shows its state",
    )


def _running(job: FoundJob) -> StatusDocument:
    """Return the document of a running job whose process may get a signal."""
    document = job.document
    if document is None or not job.state.lives:
        hint = None
        if job.state is JobState.IN_USE:
            reason = job.note or "another program holds the checkpoint"
            hint = f"end process {job.holder} yourself, if it is the job"
        else:
            reason = f"it does not run: {job.state.value}"
        raise _refusal(job, reason, hint)
    if not document.stops_on_signal:
        raise _refusal(
            job,
            f"it runs in the background of process {document.process.pid}, which SIGTERM would end",
            "use STOP JOB in that shell, or call stop() in that program",
        )
    return document


def _signal(job: FoundJob, document: StatusDocument) -> None:
    """Send SIGTERM to the process of a document, after checking that it is the job's."""
    process = document.process
    strange = _refusal(
        job,
        f"process {process.pid} on this machine is not the job, which runs on {document.host}",
        "run the command on the job's machine, in its container",
    )
    if holder_of(job.directory) != process.pid:
        raise _refusal(job, f"process {process.pid} no longer holds its checkpoint", None)
    try:
        if hasattr(os, "pidfd_open"):
            # The descriptor stands for this very process, even if its pid is used again.
            handle = os.pidfd_open(process.pid)
            try:
                if not process.alive:
                    raise strange
                signal.pidfd_send_signal(handle, signal.SIGTERM)
            finally:
                os.close(handle)
        elif process.alive:
            os.kill(process.pid, signal.SIGTERM)
        else:
            raise strange
    except ProcessLookupError:
        raise strange from None
    except PermissionError:
        raise _refusal(
            job, f"process {process.pid} belongs to another user", "run the command as that user"
        ) from None


def _ended(job: FoundJob, before: StatusDocument) -> StatusDocument | None:
    """Return the last document of the run, once the run has ended."""
    found = read_document(job.directory / FILE)
    if found is None and before.temporary:
        with suppress(OSError):
            found = ended_document(job.directory)
    this_run = found is not None and found.process == before.process
    if found is None or not this_run or found.started != before.started or found.state.lives:
        return None
    now = job_at(job.directory)
    return found if now is None or not now.state.lives else None


def _refusal(job: FoundJob, reason: str, hint: str | None) -> StreamtableError:
    return StreamtableError(Condition.JOB_NOT_STOPPED, job=job.name, reason=reason, hint=hint)
