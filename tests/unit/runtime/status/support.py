"""Start processes that have a status, and wait for them."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from streamtable.runtime.status.document import (
    JobState,
    StatusDocument,
)
from streamtable.runtime.status.found import job_at
from streamtable.runtime.status.reporter import ReportedJob

#: A process with a checkpoint and a status. The last argument decides how a stop ends.
JOB = """
import sys, threading, time
from pathlib import Path, PurePosixPath
from streamtable.core.errors import Condition, StreamtableError
from streamtable.runtime.checkpoint.checkpoint import open_checkpoint
from streamtable.runtime.status.reporter import ReportedJob, StatusReporter
from streamtable.runtime.stop_signals import stop_signals

directory, name, way = sys.argv[1:]
checkpoint = open_checkpoint(directory, {})
no_metrics = lambda: {"tables": {}, "queries": {}}
job = ReportedJob(name, "script", checkpoint.directory, temporary=False, queries={})
with stop_signals() as stop, StatusReporter(job, no_metrics, stop, print) as reporter:
    reporter.running()
    while not stop.wait(0.05):
        pass
    if way == "fails":
        raise StreamtableError(Condition.JOB_FAILED, sink="t", reason="the disk is full")
    if way == "hangs":
        time.sleep(600)
"""


def no_metrics() -> dict[str, dict[str, dict[str, Any]]]:
    return {"tables": {}, "queries": {}}


def reported(directory: Path, name: str = "j", *, temporary: bool = False) -> ReportedJob:
    return ReportedJob(name, "script", directory, temporary=temporary, queries={})


def started(directory: Path, name: str = "j", way: str = "ends") -> subprocess.Popen[bytes]:
    process = subprocess.Popen([sys.executable, "-c", JOB, str(directory), name, way])
    until(lambda: process.poll() is not None or state(directory) is JobState.RUNNING)
    assert process.poll() is None
    return process


def state(directory: Path) -> JobState | None:
    found = job_at(directory)
    return None if found is None else found.state


def until(holds: Any) -> None:
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def with_changes(document: StatusDocument | None, **changes: Any) -> StatusDocument:
    assert document is not None
    return StatusDocument(**{**vars(document), **changes})
