"""Status documents and their readers, with real processes and locks, without Spark."""

from __future__ import annotations

import json
import os
import shutil
import signal
import threading
from pathlib import Path

import pytest
from tests.unit.runtime.status.support import (
    no_metrics,
    reported,
    started,
    state,
    until,
    with_changes,
)

from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.process import Process
from streamtable.core.secrets import hide
from streamtable.runtime.checkpoint.checkpoint import open_checkpoint
from streamtable.runtime.status.document import (
    FILE,
    KILLED,
    JobState,
    StatusDocument,
    read_document,
    write_document,
)
from streamtable.runtime.status.found import find_job, job_at, jobs_below
from streamtable.runtime.status.lock import holder_of
from streamtable.runtime.status.reporter import StatusReporter
from streamtable.runtime.status.stop import stop_job


def test_a_job_from_its_start_to_its_end(tmp_path: Path) -> None:
    checkpoint = open_checkpoint(str(tmp_path / "c"), {})
    stop = threading.Event()
    with StatusReporter(reported(checkpoint.directory), no_metrics, stop, print) as reporter:
        assert state(checkpoint.directory) is JobState.STARTING
        reporter.running()
        until(lambda: state(checkpoint.directory) is JobState.RUNNING)
        found = find_job("j")
        assert (found.directory, found.holder) == (tmp_path / "c", os.getpid())
        assert find_job(str(os.getpid())).name == "j"
        stop.set()
        until(lambda: state(checkpoint.directory) is JobState.STOPPING)
    # The run is over, and this process still holds the lock.
    assert state(checkpoint.directory) is JobState.IN_USE
    checkpoint.close()
    assert state(checkpoint.directory) is JobState.STOPPED
    assert find_job("j").state is JobState.STOPPED


def test_the_end_of_the_input(tmp_path: Path) -> None:
    with StatusReporter(reported(tmp_path), no_metrics, threading.Event(), print):
        pass
    assert state(tmp_path) is JobState.FINISHED


def test_the_last_error_outlives_the_next_run(tmp_path: Path) -> None:
    hide("pass-4711")
    failure = StreamtableError(Condition.JOB_FAILED, sink="t", reason="bad\nlogin pass-4711")
    with (
        pytest.raises(StreamtableError),
        StatusReporter(reported(tmp_path), no_metrics, threading.Event(), print),
    ):
        raise failure
    found = job_at(tmp_path)
    assert found is not None
    assert found.document is not None
    assert found.state is JobState.FAILED
    assert found.error == "JOB_FAILED: t: bad login ****"
    assert found.document.error is not None
    assert found.document.error.condition == "JOB_FAILED"
    with StatusReporter(reported(tmp_path), no_metrics, threading.Event(), print):
        pass
    again = read_document(tmp_path / FILE)
    assert again is not None
    assert again.error is None
    assert again.last_error == found.document.error
    assert "pass-4711" not in (tmp_path / FILE).read_text()


#: Secrets that are also words or numbers of the document, or that JSON escapes.
SECRETS = ["true", "1234", "running", "starting", "script", 'p"a\\ss', "pässword"]


@pytest.mark.parametrize("secret", SECRETS)
def test_a_document_with_masked_secrets_is_readable(secret: str, tmp_path: Path) -> None:
    hide(secret)
    job = reported(tmp_path, f"job {secret}")
    with StatusReporter(job, no_metrics, threading.Event(), print) as reporter:
        reporter.running()
        document = with_changes(
            reporter.document(), started=1234.5, process=Process(12345, "1234567")
        )
    write_document(tmp_path, document)
    read = read_document(tmp_path / FILE)
    assert read is not None
    shown = secret if secret == "true" else "****"  # noqa: S105 - no secret
    assert read == with_changes(document, name=f"job {shown}", directory=read.directory)


def test_a_bug_is_an_error_without_a_condition(tmp_path: Path) -> None:
    with (
        pytest.raises(ZeroDivisionError),
        StatusReporter(reported(tmp_path), no_metrics, threading.Event(), print),
    ):
        raise ZeroDivisionError
    document = read_document(tmp_path / FILE)
    assert document is not None
    assert document.error is not None
    assert (document.error.condition, document.error.message) == (None, "ZeroDivisionError:")


def test_a_killed_job_is_failed_and_its_copy_is_stopped(tmp_path: Path) -> None:
    process = started(tmp_path / "c")
    shutil.copytree(tmp_path / "c", tmp_path / "copy")
    copied = job_at(tmp_path / "copy")
    assert copied is not None
    assert copied.state is JobState.STOPPED
    assert copied.note == f"copied from {tmp_path / 'c'}; no job has run here since"
    process.send_signal(signal.SIGKILL)
    process.wait()
    found = job_at(tmp_path / "c")
    assert found is not None
    assert (found.state, found.error, found.holder) == (JobState.FAILED, KILLED, None)
    assert state(tmp_path / "copy") is JobState.STOPPED
    # A run on the copy belongs to the copy. Only a run on the original has the killed run as
    # its last error.
    with StatusReporter(reported(tmp_path / "copy"), no_metrics, threading.Event(), print):
        pass
    assert state(tmp_path / "copy") is JobState.FINISHED
    document = read_document(tmp_path / "copy" / FILE)
    assert document is not None
    assert document.last_error is None
    with StatusReporter(reported(tmp_path / "c"), no_metrics, threading.Event(), print):
        pass
    document = read_document(tmp_path / "c" / FILE)
    assert document is not None
    assert document.last_error is not None
    assert document.last_error.message == KILLED


def test_a_reused_pid_does_not_make_a_job_alive(tmp_path: Path) -> None:
    process = started(tmp_path)
    process.kill()
    process.wait()
    document = read_document(tmp_path / FILE)
    assert document is not None
    mine = Process.of(os.getpid())
    assert mine is not None
    write_document(tmp_path, with_changes(document, process=mine))
    assert state(tmp_path) is JobState.FAILED


def test_a_checkpoint_in_use_without_a_status_document(tmp_path: Path) -> None:
    checkpoint = open_checkpoint(str(tmp_path / "c"), {})
    (tmp_path / "c" / "streamtable.json").write_text('{"queries": {"a": 1, "b": 2}}')
    found = job_at(tmp_path / "c")
    assert found is not None
    assert (found.state, found.holder) == (JobState.IN_USE, os.getpid())
    assert found.name == "insert-into_a,b"
    with pytest.raises(StreamtableError, match=f"process {os.getpid()} holds the checkpoint"):
        stop_job(found, 1)
    checkpoint.close()
    assert [job.state for job in jobs_below(tmp_path)] == [JobState.STOPPED]


def test_readers_do_not_prevent_a_job_from_starting(tmp_path: Path) -> None:
    checkpoint = open_checkpoint(str(tmp_path), {})
    checkpoint.close()
    over = threading.Event()

    def look() -> None:
        while not over.is_set():
            holder_of(tmp_path)

    lookers = [threading.Thread(target=look) for _ in range(4)]
    for looker in lookers:
        looker.start()
    try:
        for _ in range(50):
            open_checkpoint(str(tmp_path), {}).close()
    finally:
        over.set()
        for looker in lookers:
            looker.join()


def test_torn_documents_and_other_versions_are_ignored(tmp_path: Path) -> None:
    file = tmp_path / FILE
    with StatusReporter(reported(tmp_path), no_metrics, threading.Event(), print):
        pass
    values = json.loads(file.read_text())
    assert StatusDocument.from_json(values).as_json() == values
    for text in (
        "",
        "\0\0",
        "[1]",
        json.dumps({**values, "version": 2}),
        json.dumps({**values, "state": "asleep"}),
        json.dumps({key: values[key] for key in values if key != "process"}),
    ):
        file.write_text(text)
        assert read_document(file) is None
