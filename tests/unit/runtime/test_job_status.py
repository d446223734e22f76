"""Status documents and their readers, with real processes and locks, without Spark."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.process import Process
from streamtable.core.secrets import hide
from streamtable.runtime.checkpoint.checkpoint import open_checkpoint
from streamtable.runtime.status.display import job_report, job_table
from streamtable.runtime.status.document import (
    FILE,
    KILLED,
    JobState,
    StatusDocument,
    read_document,
    write_document,
)
from streamtable.runtime.status.found import find_job, job_at, jobs_below, listed_jobs
from streamtable.runtime.status.lock import holder_of
from streamtable.runtime.status.reporter import ReportedJob, StatusReporter
from streamtable.runtime.status.stop import stop_job
from streamtable.runtime.status.views import holds_back, lag_of, operators_of, slowest

#: A process with a checkpoint and a status, and a stop that works as the argument tells.
_JOB = """
import sys, threading, time
from pathlib import Path
from streamtable.core.errors import Condition, StreamtableError
from streamtable.runtime.checkpoint.checkpoint import open_checkpoint
from streamtable.runtime.status.reporter import ReportedJob, StatusReporter
from streamtable.runtime.stop_signals import stop_signals

directory, name, way = sys.argv[1:]
checkpoint = open_checkpoint(directory, {})
values = lambda: {"tables": {}, "queries": {}}
job = ReportedJob(name, "script", checkpoint.directory, temporary=False, queries={})
with stop_signals() as stop, StatusReporter(job, values, stop, print) as reporter:
    reporter.running()
    while not stop.wait(0.05):
        pass
    if way == "fails":
        raise StreamtableError(Condition.JOB_FAILED, sink="t", reason="the disk is full")
    if way == "hangs":
        time.sleep(600)
"""


@pytest.fixture(autouse=True)
def jobs_folder(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The list of this test's jobs: other tests have other lists."""
    folder = tmp_path_factory.mktemp("run")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
    return folder / "streamtable-jobs"


def _values() -> dict[str, dict[str, dict[str, Any]]]:
    return {"tables": {}, "queries": {}}


def _reported(directory: Path, name: str = "j", *, temporary: bool = False) -> ReportedJob:
    return ReportedJob(name, "script", directory, temporary=temporary, queries={})


def _started(directory: Path, name: str = "j", way: str = "ends") -> subprocess.Popen[bytes]:
    process = subprocess.Popen([sys.executable, "-c", _JOB, str(directory), name, way])
    _until(lambda: process.poll() is not None or _state(directory) is JobState.RUNNING)
    assert process.poll() is None
    return process


def _state(directory: Path) -> JobState | None:
    found = job_at(directory)
    return None if found is None else found.state


def _until(holds: Any) -> None:
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_job_from_its_start_to_its_end(tmp_path: Path) -> None:
    checkpoint = open_checkpoint(str(tmp_path / "c"), {})
    stop = threading.Event()
    with StatusReporter(_reported(checkpoint.directory), _values, stop, print) as reporter:
        assert _state(checkpoint.directory) is JobState.STARTING
        reporter.running()
        _until(lambda: _state(checkpoint.directory) is JobState.RUNNING)
        found = find_job("j")
        assert (found.directory, found.holder) == (tmp_path / "c", os.getpid())
        assert find_job(str(os.getpid())).name == "j"
        stop.set()
        _until(lambda: _state(checkpoint.directory) is JobState.STOPPING)
    # The lock is still held, and the run is over.
    assert _state(checkpoint.directory) is JobState.IN_USE
    checkpoint.close()
    assert _state(checkpoint.directory) is JobState.STOPPED
    assert find_job("j").state is JobState.STOPPED


def test_the_end_of_the_input(tmp_path: Path) -> None:
    with StatusReporter(_reported(tmp_path), _values, threading.Event(), print):
        pass
    assert _state(tmp_path) is JobState.FINISHED


def test_the_last_error_outlives_the_next_run(tmp_path: Path) -> None:
    hide("pass-4711")
    failure = StreamtableError(Condition.JOB_FAILED, sink="t", reason="bad\nlogin pass-4711")
    with (
        pytest.raises(StreamtableError),
        StatusReporter(_reported(tmp_path), _values, threading.Event(), print),
    ):
        raise failure
    found = job_at(tmp_path)
    assert found is not None
    assert found.document is not None
    assert found.state is JobState.FAILED
    assert found.error == "JOB_FAILED: t: bad login ****"
    assert found.document.error is not None
    assert found.document.error.condition == "JOB_FAILED"
    with StatusReporter(_reported(tmp_path), _values, threading.Event(), print):
        pass
    again = read_document(tmp_path / FILE)
    assert again is not None
    assert again.error is None
    assert again.last_error == found.document.error
    assert "pass-4711" not in (tmp_path / FILE).read_text()


def test_a_bug_is_an_error_without_a_condition(tmp_path: Path) -> None:
    with (
        pytest.raises(ZeroDivisionError),
        StatusReporter(_reported(tmp_path), _values, threading.Event(), print),
    ):
        raise ZeroDivisionError
    document = read_document(tmp_path / FILE)
    assert document is not None
    assert document.error is not None
    assert (document.error.condition, document.error.message) == (None, "ZeroDivisionError:")


def test_a_killed_job_is_dead_and_so_is_every_copy(tmp_path: Path) -> None:
    process = _started(tmp_path / "c")
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
    assert _state(tmp_path / "copy") is JobState.STOPPED
    # A job that runs on the copy makes the copy its own; the killed run is the last error.
    with StatusReporter(_reported(tmp_path / "copy"), _values, threading.Event(), print):
        pass
    assert _state(tmp_path / "copy") is JobState.FINISHED
    document = read_document(tmp_path / "copy" / FILE)
    assert document is not None
    assert document.last_error is None
    with StatusReporter(_reported(tmp_path / "c"), _values, threading.Event(), print):
        pass
    document = read_document(tmp_path / "c" / FILE)
    assert document is not None
    assert document.last_error is not None
    assert document.last_error.message == KILLED


def test_a_pid_that_is_used_again_does_not_make_a_job_alive(tmp_path: Path) -> None:
    process = _started(tmp_path)
    process.kill()
    process.wait()
    document = read_document(tmp_path / FILE)
    assert document is not None
    mine = Process.of(os.getpid())
    assert mine is not None
    write_document(tmp_path, _with(document, process=mine))
    assert _state(tmp_path) is JobState.FAILED


def test_a_checkpoint_in_other_hands(tmp_path: Path) -> None:
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


def test_a_reader_does_not_keep_a_job_from_its_start(tmp_path: Path) -> None:
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


def test_stopped_cleanly(tmp_path: Path) -> None:
    process = _started(tmp_path, "clean")
    outcome = stop_job(find_job("clean"), 60)
    assert outcome.clean
    assert outcome.document is not None
    assert outcome.document.state is JobState.STOPPED
    assert process.wait(60) == 0
    with pytest.raises(StreamtableError, match=r"JOB_NOT_STOPPED: .* does not run: stopped"):
        stop_job(find_job("clean"), 60)


def test_failed_while_it_stopped(tmp_path: Path) -> None:
    process = _started(tmp_path, way="fails")
    outcome = stop_job(find_job(str(tmp_path)), 60)
    assert not outcome.clean
    assert outcome.document is not None
    assert outcome.document.error is not None
    assert outcome.document.error.message == "JOB_FAILED: t: the disk is full"
    assert process.wait(60) == 1


def test_killed_while_it_stopped(tmp_path: Path) -> None:
    process = _started(tmp_path, way="hangs")
    found = find_job(str(tmp_path))
    with pytest.raises(StreamtableError, match=r"still ends after 0\.2 s"):
        stop_job(found, 0.2)
    assert process.poll() is None
    threading.Timer(0.5, process.kill).start()
    threading.Timer(0.5, process.wait).start()  # no zombie
    outcome = stop_job(found, 60)
    assert (outcome.clean, outcome.document) == (False, None)


def test_no_other_process_gets_a_signal(tmp_path: Path) -> None:
    """The document names a process that is not the holder, or that started at another time."""
    process = _started(tmp_path)
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
            document = _with(found.document, process=wrong)
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
        made.append(StatusReporter(_reported(tmp_path), _values, threading.Event(), print))

    thread = threading.Thread(target=make)
    thread.start()
    thread.join()
    with made[0], pytest.raises(StreamtableError, match="in the background") as refused:
        stop_job(find_job(str(tmp_path)), 1)
    assert refused.value.condition is Condition.JOB_NOT_STOPPED
    checkpoint.close()


def test_a_temporary_checkpoint_leaves_its_last_document(tmp_path: Path, jobs_folder: Path) -> None:
    folder = tmp_path / "scratch"
    folder.mkdir()
    with StatusReporter(
        _reported(folder, "temp", temporary=True), _values, threading.Event(), print
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


def test_names_that_do_not_tell(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        with StatusReporter(_reported(tmp_path / name, "same"), _values, threading.Event(), print):
            pass
    with pytest.raises(StreamtableError, match="2 jobs have this name; give the checkpoint of one"):
        find_job("same")
    with pytest.raises(StreamtableError, match=r"UNKNOWN_JOB: job .sane. does not exist.*same"):
        find_job("sane")
    with pytest.raises(StreamtableError, match="the directory is not a checkpoint"):
        find_job(str(tmp_path))


def test_a_status_that_cannot_be_written_ends_nothing(tmp_path: Path, jobs_folder: Path) -> None:
    jobs_folder.write_text("not a folder")
    said: list[str] = []
    folder = tmp_path / "gone"
    with StatusReporter(_reported(folder), _values, threading.Event(), said.append) as reporter:
        reporter.running()
    (line,) = said
    assert line.startswith("the status of the job cannot be written: No such file or directory")


def test_a_list_that_others_may_write_is_not_read(tmp_path: Path, jobs_folder: Path) -> None:
    with StatusReporter(_reported(tmp_path, "mine"), _values, threading.Event(), print):
        pass
    assert find_job("mine").directory == tmp_path
    jobs_folder.chmod(0o777)
    with pytest.raises(StreamtableError, match="UNKNOWN_JOB"):
        find_job("mine")


def test_documents_of_other_versions_and_torn_ones_count_as_none(tmp_path: Path) -> None:
    file = tmp_path / FILE
    with StatusReporter(_reported(tmp_path), _values, threading.Event(), print):
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


_MARK = 1_767_225_600_000
_QUERY: dict[str, Any] = {
    "lastCheckpoint": 1_767_225_700.0,
    "lastBatch": 7,
    "batchDuration": 1_250,
    "watermark": "2026-01-01T00:00:00.000Z",
    "partitionWatermark": {"views-0": _MARK + 25_000, "views-1": _MARK},
    "mode": "micro-batch",
    "stateRows": None,
    "stateBytes": 2_500_000,
    "operators": [
        {"name": "tws", "stateRows": None, "stateBytes": 500_000, "stateTime": 40},
        {"name": "tws", "stateRows": None, "stateBytes": 2_000_000, "stateTime": 300},
    ],
}
_TABLES: dict[str, Any] = {
    "v": {
        "numRecordsIn": 1_000,
        "numRecordsInPerSecond": 12.5,
        "numBytesInPerSecond": 2_048.0,
        "pendingRecords": 42,
        "numErrors": 3,
    },
    "w": {
        "numRecordsOut": 10,
        "numRecordsOutPerSecond": 0.5,
        "numBytesOutPerSecond": 64.0,
        "numErrors": 0,
    },
}
_OUTLINE = {"reads": ["v"], "writes": "w", "operators": ["Aggregate", "Join"]}


def _with(document: StatusDocument, **changes: Any) -> StatusDocument:
    return StatusDocument(**{**vars(document), **changes})


def test_the_report_of_a_job(tmp_path: Path) -> None:
    with StatusReporter(_reported(tmp_path), _values, threading.Event(), print):
        pass
    document = read_document(tmp_path / FILE)
    assert document is not None
    metrics = {"tables": _TABLES, "queries": {"w": _QUERY}}
    write_document(tmp_path, _with(document, queries={"w": _OUTLINE}, metrics=metrics))
    found = job_at(tmp_path)
    assert found is not None
    text = "\n".join(job_report(found))
    for part in (
        "job j: finished",
        "query w: micro-batch, lag 42 records",
        "  reads v: 1,000 records, 12.5/s, 2.0 kB/s, lag 42, 3 errors",
        "  writes w: 10 records, 0.5/s, 64 B/s",
        "which took 1.2 s",
        "  watermark        2026-01-01T00:00:00.000Z, held back by views-1",
        "    views-1    2026-01-01T00:00:00.000Z  25.0 s\n    views-0",
        "  state            2.5 MB",
        "    Join             2.0 MB    300 ms",
        "  slowest operator Join: 300 ms in the last batch",
    ):
        assert part in text, text
    headings, line = job_table([found])
    assert headings.split("  ")[0] == "NAME"
    assert [cell.strip() for cell in line.split("  ") if cell.strip()][:4] == [
        "j",
        "finished",
        "42",
        "micro-batch",
    ]


def test_what_cannot_be_known_is_not_guessed() -> None:
    assert lag_of({"a": {"pendingRecords": 1}, "b": {"pendingRecords": None}}, ["a", "b"]) is None
    assert lag_of({"a": {"pendingRecords": 1}}, ["a"]) == 1
    assert holds_back({"partitionWatermark": {"v-0": 5}}) is None
    assert holds_back({"partitionWatermark": {"v-0": 5, "v-1": 5}}) is None
    assert holds_back({"partitionWatermark": {"v-0": 5, "v-1": 5, "v-2": 6}}) == "v-0"
    # Spark may run another number of stateful operators than the plan has: no names are mixed up.
    assert [each.name for each in operators_of(_QUERY, ["Aggregate"])] == ["tws", "tws"]
    real_time = {**_QUERY, "operators": [{**_QUERY["operators"][0], "stateTime": None}]}
    assert slowest(operators_of(real_time, ["Aggregate"])) is None
