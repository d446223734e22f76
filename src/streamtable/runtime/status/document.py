"""Status document of a job: `status.json` in its checkpoint directory.

docs/architecture/runtime.md describes the file. A reader accepts documents of its own version only.
"""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any, Self

from streamtable.core.errors import StreamtableError, singles
from streamtable.core.process import Process
from streamtable.core.secrets import masked, without_secrets

FILE = "status.json"

#: Draft of the file, before it gets its name.
DRAFT = "status.json.new"

#: Error of a run whose process has disappeared.
KILLED = "the process ended without a clean stop: it was killed, or the machine failed"

#: Version of the document. Increase it when a key changes its meaning or disappears.
VERSION = 1

#: Keys whose texts are the user's. The others identify the process or are words of ours, which a
#: secret may equal; errors are masked when they are made.
_TEXTS = ("name", "directory", "queries", "metrics", "reader")


class JobState(Enum):
    """State of a job."""

    STARTING = "starting"
    RUNNING = "running"
    STOPPING = "stopping"
    #: Ended after a stop request.
    STOPPED = "stopped"
    #: Ended at the end of its input.
    FINISHED = "finished"
    #: Ended by an error, or without a clean end.
    FAILED = "failed"
    #: Another program holds the checkpoint, such as `rescale` or an earlier version.
    IN_USE = "in use"

    @property
    def lives(self) -> bool:
        """Whether a process runs the job."""
        return self in (JobState.STARTING, JobState.RUNNING, JobState.STOPPING)


@dataclass(frozen=True)
class JobError:
    """Error that ended a run.

    Attributes:
        condition: name of the error condition; None for an error that is not the user's.
        message: one line without secrets.
        at: time of the error, in epoch seconds.
    """

    condition: str | None
    message: str
    at: float

    @staticmethod
    def of(error: BaseException, at: float) -> JobError:
        """Return the first error of an exception, on one line."""
        if isinstance(error, StreamtableError):
            first = singles(error)[0]
            return JobError(first.condition.name, str(first), at)
        text = without_secrets(" ".join(f"{type(error).__name__}: {error}".split()))
        return JobError(None, text, at)


@dataclass(frozen=True)
class StatusDocument:
    """What a job last wrote about itself.

    Attributes:
        name: 'pipeline.name', or `insert-into_` and the tables that the job writes.
        kind: `script` or `ingestion`.
        state: as of `updated`. Only the lock of the checkpoint tells whether the process lives.
        process: the process of the job.
        host: name of its machine.
        stops_on_signal: whether SIGTERM stops the job cleanly. It does not if the job runs in a
            background thread of a program.
        directory: checkpoint directory.
        temporary: whether the directory is deleted at the end.
        lock: inode of the lock file, by which a copy of the directory is recognized.
        started: start of the run, in epoch seconds.
        updated: time of the document.
        ended: end of the run; None before.
        error: the error that ended the run.
        last_error: the error of the latest run that failed, which may be an earlier run.
        queries: query -> `{"reads": [table], "writes": table, "operators": [operator with state]}`.
        metrics: `JobMetrics.values`.
        reader: progress of an ingestion job's reader; None for a script.
    """

    name: str
    kind: str
    state: JobState
    process: Process
    host: str
    stops_on_signal: bool
    directory: str
    temporary: bool
    lock: int
    started: float
    updated: float
    ended: float | None = None
    error: JobError | None = None
    last_error: JobError | None = None
    queries: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    metrics: Mapping[str, Mapping[str, Mapping[str, Any]]] = field(
        default_factory=lambda: {"tables": {}, "queries": {}}
    )
    reader: Mapping[str, Any] | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the document as JSON values."""
        return {"version": VERSION, **asdict(self), "state": self.state.value}

    def text(self) -> str:
        """Return the text of the file, without secrets."""
        found = self.as_json()
        return json.dumps(found | {key: masked(found[key]) for key in _TEXTS})

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> Self:
        """Return the document of JSON values.

        Raises:
            ValueError: another version, or not a document.
        """
        values = dict(found)
        if values.pop("version", None) != VERSION:
            message = "another version of the status document"
            raise ValueError(message)
        try:
            values["state"] = JobState(values["state"])
            values["process"] = Process(**values["process"])
            for key in ("error", "last_error"):
                values[key] = None if values[key] is None else JobError(**values[key])
            return cls(**values)
        except (KeyError, TypeError) as error:
            message = f"not a status document: {error}"
            raise ValueError(message) from error


def read_document(path: Path) -> StatusDocument | None:
    """Return the document of a file; None if it is missing, torn or of another version."""
    try:
        return StatusDocument.from_json(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def write_document(directory: Path, document: StatusDocument) -> None:
    """Replace the document of a directory atomically.

    The file is not synced to the disk: after a power failure it may be empty, and the next run
    writes it again.

    Raises:
        OSError: the file cannot be written.
    """
    draft = directory / DRAFT
    draft.write_text(document.text(), encoding="utf-8")
    draft.replace(directory / FILE)


def this_process() -> Process:
    """Return this process."""
    found = Process.of(os.getpid())
    return found or Process(os.getpid(), "")


def this_host() -> str:
    """Return the name of this machine."""
    return socket.gethostname()
