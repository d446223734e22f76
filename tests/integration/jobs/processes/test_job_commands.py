"""`streamtable jobs`, `status` and `stop` over real jobs: running, killed, failed, stopped."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.jobs.support import PATIENCE_S, Cli, run, write
from tests.integration.jobs.test_metrics import SCRIPT, WINDOWS

from streamtable.testing.topics import produce

if TYPE_CHECKING:
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker


@pytest.fixture(autouse=True)
def _own_list(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = str(tmp_path_factory.mktemp("run"))
    for variable in ("XDG_RUNTIME_DIR", "TMPDIR"):
        monkeypatch.setenv(variable, folder)


def _view(second: int) -> tuple[bytes | None, bytes | None]:
    return None, b'{"g":1,"at":"2026-01-01 00:%02d:%02d"}' % divmod(second, 60)


def _until(job: str, holds: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """Wait until `status --json` reports a job that fulfils the condition, and return the job."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        code, out, err = run("status", job, "--json")
        assert code == 0 or "UNKNOWN_JOB" in err, err
        found = json.loads(out) if code == 0 else {}
        if found and holds(found):
            return dict(found)
        assert time.monotonic() < deadline, found
        time.sleep(0.5)


def test_a_job_in_micro_batches(broker: Broker, topic: Topics, tmp_path: Path) -> None:
    """`status` reports a job that runs, is killed, runs again and is stopped.

    A copy of its checkpoint is never reported as running.
    """
    source, checkpoint = topic("views", partitions=2), tmp_path / "jobs" / "windows"
    arguments = (
        *("run", write(tmp_path / "job.sql", WINDOWS), "--checkpoint", str(checkpoint)),
        *("--var", f"source={source}", "--var", f"servers={broker.bootstrap_servers}"),
        *("--mode", "micro-batch", "--set", "pipeline.name=windows"),
    )
    produce(broker.bootstrap_servers, source, [_view(s) for s in (3, 40, 50)], partition=0)
    produce(broker.bootstrap_servers, source, [_view(25)], partition=1)
    job = Cli.start(*arguments)
    name = f"{source}-1"
    found = _until(
        "windows",
        lambda now: (
            now["metrics"]["queries"].get("w", {}).get("watermark") is not None
            and now["metrics"]["tables"]["v"]["pendingRecords"] == 0
        ),
    )
    assert (found["state"], found["holder"]) == ("running", job.process.pid)
    assert found["queries"] == {
        "w": {"reads": ["v"], "writes": "w", "operators": found["queries"]["w"]["operators"]}
    }
    assert len(found["queries"]["w"]["operators"]) == 1
    query = found["metrics"]["queries"]["w"]
    assert query["mode"] == "micro-batch"
    assert query["operators"][0]["stateRows"] == 3
    assert query["operators"][0]["stateTime"] > 0
    text = run("status", str(checkpoint))[1]
    assert "query w: micro-batch, lag 0 records" in text
    assert f"2026-01-01T00:00:24.000Z, held back by {name}" in text
    assert f"  slowest operator {found['queries']['w']['operators'][0]}: " in text
    listed = run("jobs", str(tmp_path))[1].splitlines()
    assert len(listed) == 2
    assert listed[1].split()[:5] == ["windows", "running", str(job.process.pid), "0", "micro-batch"]
    assert run("jobs")[1].splitlines()[1].split()[:3] == listed[1].split()[:3]
    shutil.copytree(checkpoint, tmp_path / "copy")
    assert json.loads(run("status", str(tmp_path / "copy"), "--json")[1])["state"] == "stopped"
    code, _, err = run("stop", str(tmp_path / "copy"))
    assert (code, "it does not run: stopped" in err) == (1, True)

    job.kill()
    found = _until("windows", lambda now: now["state"] == "failed")
    assert "killed" in found["failure"]
    assert "error: the process ended without a clean stop" in run("jobs")[1]

    job = Cli.start(*arguments)
    _until("windows", lambda now: now["state"] == "running")
    code, out, err = run("stop", "windows")
    assert (code, err) == (0, "")
    assert out.startswith("job windows: stopped after ")
    assert job.end()[0] == 0
    found = json.loads(run("status", "windows", "--json")[1])
    assert (found["state"], found["holder"], found["failure"]) == ("stopped", None, None)
    assert "killed" in found["last_error"]["message"]
    assert run("stop", "windows")[0] == 1


def test_status_reports_a_failed_job_without_a_checkpoint(
    broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    source = topic("changes")
    produce(broker.bootstrap_servers, source, [(b'{"k":1}', b"{")])
    script = SCRIPT.replace("'true'", "'false'")
    code, _, err = run(
        *("run", write(tmp_path / "job.sql", script), "--var", f"source={source}"),
        *("--var", f"servers={broker.bootstrap_servers}", "--log-format", "json"),
    )
    assert code == 1
    lines = [json.loads(line) for line in err.splitlines()]
    assert {"running o", "no --checkpoint: a restart will start from the beginning"} <= {
        line["message"] for line in lines if (line["level"], line["condition"]) == ("INFO", None)
    }
    found = json.loads(run("status", "insert-into_o", "--json")[1])
    assert found["state"] == "failed"
    assert found["error"]["condition"] == "RECORD_UNREADABLE"
    assert (lines[-1]["level"], lines[-1]["condition"]) == ("ERROR", "RECORD_UNREADABLE")
    assert lines[-1]["message"] == found["error"]["message"]
    assert "RECORD_UNREADABLE" in run("jobs")[1]


@pytest.mark.soak
@pytest.mark.real_time_state
def test_a_job_in_real_time_mode(broker: Broker, topic: Topics, tmp_path: Path) -> None:
    source = topic("changes", partitions=2)
    arguments = (
        *("run", write(tmp_path / "job.sql", SCRIPT), "--var", f"source={source}"),
        *("--var", f"servers={broker.bootstrap_servers}", "--mode", "real-time"),
        *("--set", "execution.checkpointing.interval=5 s", "--set", "parallelism.default=1"),
    )
    job = Cli.start(*arguments)
    job.wait_for("running o")
    job.kill()
    killed = _until("insert-into_o", lambda now: now["state"] == "failed")
    assert killed["process"]["pid"] == job.process.pid

    job = Cli.start(*arguments)
    job.wait_for("running o")
    produce(broker.bootstrap_servers, source, [(b'{"k":%d}' % k, b'{"g":1}') for k in range(9)])
    found = _until(
        str(job.process.pid),
        # Records are counted while the first batch runs, but the query is reported at its end.
        lambda now: (
            now["metrics"]["tables"].get("t", {}).get("numRecordsIn") == 9
            and "o" in now["metrics"]["queries"]
        ),
    )
    assert found["metrics"]["queries"]["o"]["mode"] == "real-time"
    assert "query o: real-time" in run("status", "insert-into_o")[1]
    code, out, _ = run("stop", str(job.process.pid))
    assert code == 0, out
    assert job.end()[0] == 0
    states = [line.split()[:2] for line in run("jobs")[1].splitlines() if "insert" in line]
    assert sorted(states) == [["insert-into_o", "failed"], ["insert-into_o", "stopped"]]
