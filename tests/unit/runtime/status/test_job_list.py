"""The user's list of jobs, and the search for a job in the list."""

from __future__ import annotations

import json
import os
import shutil
import threading
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from tests.unit.runtime.status.support import (
    no_metrics,
    reported,
    until,
    with_changes,
)

from streamtable.core.errors import StreamtableError
from streamtable.runtime.checkpoint.checkpoint import open_checkpoint
from streamtable.runtime.status.display import job_report, job_table
from streamtable.runtime.status.document import (
    JobState,
    write_document,
)
from streamtable.runtime.status.found import find_job, listed_jobs
from streamtable.runtime.status.reporter import StatusReporter


def test_a_temporary_checkpoint_leaves_its_last_document(tmp_path: Path, jobs_folder: Path) -> None:
    folder = tmp_path / "scratch"
    folder.mkdir()
    with StatusReporter(
        reported(folder, "temp", temporary=True), no_metrics, threading.Event(), print
    ):
        assert find_job("temp").directory == folder
    shutil.rmtree(folder)
    assert find_job("temp").state is JobState.FINISHED
    (entry,) = jobs_folder.glob("*.json")
    values = json.loads(entry.read_text())
    values["document"]["ended"] -= 2 * 86_400
    entry.write_text(json.dumps(values))
    assert [job for job in listed_jobs() if job.name == "temp"] == []
    assert not entry.exists()


def test_a_checkpoint_in_another_file_system(jobs_folder: Path) -> None:
    """The document is in the list of this machine. The path stands for a remote checkpoint."""
    remote: Any = PurePosixPath("s3a://bucket/c")
    stop = threading.Event()
    with StatusReporter(reported(remote, "far"), no_metrics, stop, print) as reporter:
        reporter.running()
        until(lambda: find_job("far").state is JobState.RUNNING)
        found = find_job(str(remote))
        assert (found.checkpoint, found.holder) == (str(remote), os.getpid())
        assert found.directory.parent == jobs_folder
        assert found.as_json()["directory"] == str(remote)
    found = find_job("far")
    assert (found.state, found.checkpoint) == (JobState.FINISHED, str(remote))
    assert str(remote) in "".join(job_table([found]))
    assert f"  checkpoint       {remote}" in list(job_report(found))
    write_document(found.directory, with_changes(found.document, state=JobState.RUNNING))
    assert find_job("far").state is JobState.FAILED


def test_ambiguous_and_unknown_job_names(tmp_path: Path) -> None:
    (a, b), opened = (tmp_path / "a", tmp_path / "b"), []
    for folder in (a, b):
        opened.append(open_checkpoint(str(folder), {}))
        with StatusReporter(reported(folder, "same"), no_metrics, threading.Event(), print):
            assert find_job("same").directory == folder
    assert find_job("same").directory == b
    with (
        StatusReporter(reported(a, "same"), no_metrics, threading.Event(), print),
        StatusReporter(reported(b, "same"), no_metrics, threading.Event(), print),
        pytest.raises(StreamtableError, match="2 running jobs have this name; give the checkpoint"),
    ):
        find_job("same")
    for checkpoint in opened:
        checkpoint.close()
    with pytest.raises(StreamtableError, match=r"UNKNOWN_JOB: job .sane. does not exist.*same"):
        find_job("sane")
    with pytest.raises(StreamtableError, match="the directory is not a checkpoint"):
        find_job(str(tmp_path))


def test_an_unwritable_status_does_not_end_the_job(tmp_path: Path, jobs_folder: Path) -> None:
    jobs_folder.write_text("not a folder")
    said: list[str] = []
    folder = tmp_path / "gone"
    with StatusReporter(reported(folder), no_metrics, threading.Event(), said.append) as reporter:
        reporter.running()
    (line,) = said
    assert line.startswith("the status of the job cannot be written: No such file or directory")


def test_a_list_writable_by_other_users_is_not_read(tmp_path: Path, jobs_folder: Path) -> None:
    with StatusReporter(reported(tmp_path, "mine"), no_metrics, threading.Event(), print):
        pass
    assert find_job("mine").directory == tmp_path
    jobs_folder.chmod(0o777)
    with pytest.raises(StreamtableError, match="UNKNOWN_JOB"):
        find_job("mine")
