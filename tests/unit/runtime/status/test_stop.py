"""Jobs that another process stops, and processes that get no signal."""

from __future__ import annotations

import subprocess
import threading
from pathlib import Path

import pytest
from tests.unit.runtime.status.support import (
    no_metrics,
    reported,
    started,
    with_changes,
)

from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.process import Process
from streamtable.runtime.checkpoint.checkpoint import open_checkpoint
from streamtable.runtime.status.document import (
    JobState,
)
from streamtable.runtime.status.found import find_job
from streamtable.runtime.status.reporter import StatusReporter
from streamtable.runtime.status.stop import stop_job


def test_stopped_cleanly(tmp_path: Path) -> None:
    process = started(tmp_path, "clean")
    outcome = stop_job(find_job("clean"), 60)
    assert outcome.clean
    assert outcome.document is not None
    assert outcome.document.state is JobState.STOPPED
    assert process.wait(60) == 0
    # A job may end before it writes its manifest; the next start accepts the directory.
    open_checkpoint(str(tmp_path), {}).close()
    with pytest.raises(StreamtableError, match=r"JOB_NOT_STOPPED: .* does not run: stopped"):
        stop_job(find_job("clean"), 60)


def test_failed_while_it_stopped(tmp_path: Path) -> None:
    process = started(tmp_path, way="fails")
    outcome = stop_job(find_job(str(tmp_path)), 60)
    assert not outcome.clean
    assert outcome.document is not None
    assert outcome.document.error is not None
    assert outcome.document.error.message == "JOB_FAILED: t: the disk is full"
    assert process.wait(60) == 1


def test_killed_while_it_stopped(tmp_path: Path) -> None:
    process = started(tmp_path, way="hangs")
    found = find_job(str(tmp_path))
    with pytest.raises(StreamtableError, match=r"still ends after 0\.2 s"):
        stop_job(found, 0.2)
    assert process.poll() is None
    threading.Timer(0.5, process.kill).start()
    threading.Timer(0.5, process.wait).start()  # no zombie
    outcome = stop_job(found, 60)
    assert (outcome.clean, outcome.document) == (False, None)


def test_no_other_process_gets_a_signal(tmp_path: Path) -> None:
    """The document names a process without the lock, or a process with another start time."""
    process = started(tmp_path)
    try:
        found = find_job(str(tmp_path))
        assert found.document is not None
        other = subprocess.Popen(["sleep", "600"])
        strange = Process.of(other.pid)
        assert strange is not None
        for wrong, says in (
            (strange, "no longer holds"),
            (Process(process.pid, "0"), "is not the job"),
        ):
            document = with_changes(found.document, process=wrong)
            with pytest.raises(StreamtableError, match=says):
                stop_job(type(found)(tmp_path, JobState.RUNNING, document, process.pid), 1)
        assert process.poll() is None
        assert other.poll() is None
        other.kill()
        other.wait()
    finally:
        process.kill()
        process.wait()


def test_a_job_in_the_background_is_not_stopped_by_a_signal(tmp_path: Path) -> None:
    checkpoint = open_checkpoint(str(tmp_path), {})
    made = []

    def make() -> None:
        made.append(StatusReporter(reported(tmp_path), no_metrics, threading.Event(), print))

    thread = threading.Thread(target=make)
    thread.start()
    thread.join()
    with made[0], pytest.raises(StreamtableError, match="in the background") as refused:
        stop_job(find_job(str(tmp_path)), 1)
    assert refused.value.condition is Condition.JOB_NOT_STOPPED
    checkpoint.close()
