"""Find jobs: below a directory, in the user's list, by name, by directory or by pid."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from streamtable.core.checkpoint_path import MANIFEST
from streamtable.core.errors import Condition, StreamtableError, closest
from streamtable.runtime.status.document import (
    FILE,
    KILLED,
    JobState,
    StatusDocument,
    read_document,
)
from streamtable.runtime.status.job_list import entries, is_in_list
from streamtable.runtime.status.lock import holder_of, inode_of


@dataclass(frozen=True)
class FoundJob:
    """A job, as its checkpoint tells.

    Attributes:
        directory: the checkpoint.
        state: the state now.
        document: the last document; None if an earlier version wrote the checkpoint.
        holder: pid of the process that holds the checkpoint; None if no process does.
        note: one line about an unusual state, such as a copied checkpoint.
    """

    directory: Path
    state: JobState
    document: StatusDocument | None
    holder: int | None = None
    note: str | None = None

    @property
    def checkpoint(self) -> str:
        """The checkpoint as the user writes it."""
        if self.document is not None and is_in_list(self.directory):
            return self.document.directory
        return str(self.directory)

    @property
    def name(self) -> str:
        """Name of the job."""
        if self.document is not None:
            return self.document.name
        try:
            found = json.loads((self.directory / MANIFEST).read_text(encoding="utf-8"))
            return f"insert-into_{','.join(found['queries'])}"
        except (OSError, ValueError, KeyError, TypeError):
            return self.directory.name

    @property
    def error(self) -> str | None:
        """The error that ended the job, on one line."""
        if self.state is not JobState.FAILED:
            return None
        error = None if self.document is None else self.document.error
        return KILLED if error is None else error.message

    def as_json(self) -> dict[str, Any]:
        """Return the job as JSON values: the document, with the state now."""
        document = {} if self.document is None else self.document.as_json()
        return {
            **document,
            "name": self.name,
            "directory": self.checkpoint,
            "state": self.state.value,
            "holder": self.holder,
            "note": self.note,
            "failure": self.error,
        }


def job_at(directory: Path) -> FoundJob | None:
    """Return the job of a checkpoint directory; None if the directory is not a checkpoint."""
    document = read_document(directory / FILE)
    if document is None and not (directory / MANIFEST).is_file():
        return None
    # The lock tells whether the job lives. Only the document of the holder tells about this run.
    holder = holder_of(directory)
    if holder is not None:
        document = read_document(directory / FILE)
        mine = document is not None and document.process.pid == holder
        if document is not None and mine and document.state.lives:
            return FoundJob(directory, document.state, document, holder)
        note = f"process {holder or 'unknown'} holds the checkpoint, and reports no status"
        return FoundJob(directory, JobState.IN_USE, document, holder, note)
    if document is None:
        return FoundJob(directory, JobState.STOPPED, None)
    if document.lock != inode_of(directory):
        note = f"copied from {document.directory}; no job has run here since"
        return FoundJob(directory, JobState.STOPPED, document, note=note)
    # The job may have ended after the document was read.
    document = read_document(directory / FILE) or document
    state = JobState.FAILED if document.state.lives else document.state
    return FoundJob(directory, state, document)


def jobs_below(directory: Path) -> Iterator[FoundJob]:
    """Yield the jobs of the checkpoints in and below a directory, in the order of their paths."""
    for folder, below, _ in os.walk(directory):
        found = job_at(Path(folder))
        if found is not None:
            yield found
            below.clear()
        below.sort()


def listed_jobs() -> Iterator[FoundJob]:
    """Yield the jobs that this user has started on this machine."""
    for entry in entries():
        if entry.document is not None:
            yield FoundJob(entry.directory, entry.document.state, entry.document)
            continue
        found = job_at(entry.directory)
        if found is not None:
            yield found


def find_job(job: str) -> FoundJob:
    """Return a job by its checkpoint directory, its name or its pid.

    Of several jobs with the name, the running one is returned; if none runs, the one that was
    started last.

    Raises:
        StreamtableError: UNKNOWN_JOB if there is none, or if several with the name run.
    """
    if Path(job).is_dir():
        found = job_at(Path(job).absolute())
        if found is None:
            raise StreamtableError(
                Condition.UNKNOWN_JOB, job=job, hint="the directory is not a checkpoint"
            )
        return found
    every = list(listed_jobs())
    fitting = [each for each in every if job in (each.name, each.checkpoint, str(each.holder))]
    running = [each for each in fitting if each.state.lives]
    if len(running) > 1:
        where = ", ".join(each.checkpoint for each in running)
        hint = f"{len(running)} running jobs have this name; give the checkpoint of one: {where}"
        raise StreamtableError(Condition.UNKNOWN_JOB, job=job, hint=hint)
    if not fitting:
        raise StreamtableError(Condition.UNKNOWN_JOB, job=job, hint=_known(job, every))
    return running[0] if running else max(fitting, key=_started)


def _started(job: FoundJob) -> float:
    return 0.0 if job.document is None else job.document.started


def _known(job: str, every: Sequence[FoundJob]) -> str:
    names = sorted({each.name for each in every})
    nearest = closest(job, names)
    listed = f"the list has {', '.join(names)}" if names else "the list of jobs is empty"
    return nearest or f"{listed}; or give the directory of its checkpoint"
