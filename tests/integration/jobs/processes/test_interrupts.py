"""Ctrl-C at any moment, a killed JVM of Spark, and a cache that cannot be written."""

from __future__ import annotations

import os
import shutil
import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.integration.jobs.support import PATIENCE_S, Cli, write

from streamtable.jvm.install.cache import cache_dir
from streamtable.runtime.status.document import JobState
from streamtable.runtime.status.found import job_at
from streamtable.testing.topics import produce_json

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

TABLE = """
CREATE TABLE t (k INT) WITH (
  'connector' = 'kafka', 'topic' = '${t}', 'scan.startup.mode' = 'earliest-offset',
  'properties.bootstrap.servers' = '${servers}', 'format' = 'json'
);
"""
SELECT = TABLE + "SELECT * FROM t;"
INSERT = (
    TABLE
    + """
CREATE TABLE counts (k INT, n BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${t}-counts',
  'properties.bootstrap.servers' = '${servers}', 'key.format' = 'json', 'value.format' = 'json'
);
INSERT INTO counts SELECT k, COUNT(*) FROM t GROUP BY k;
"""
)


@pytest.fixture
def start(broker: Broker, topic: Topics, tmp_path: Path) -> Callable[..., Cli]:
    """Return a function that starts `streamtable run` on a script over a topic with a few rows."""
    name = topic("interrupted")
    produce_json(broker.bootstrap_servers, name, ({"k": k % 3} for k in range(6)))

    def started(script: str, *arguments: str) -> Cli:
        names = ["--var", f"t={name}", "--var", f"servers={broker.bootstrap_servers}"]
        arguments = (*names, "--set", "execution.mode=micro-batch", *arguments)
        return Cli.start("run", write(tmp_path / "job.sql", script), *arguments)

    return started


def _java_of(process: Cli) -> int | None:
    """Return the process id of the JVM of a command, or None before it exists."""
    for child in Path(f"/proc/{process.process.pid}/task").glob("*/children"):
        with suppress(OSError):  # a thread or a child that has just ended
            for pid in child.read_text().split():
                if Path(f"/proc/{pid}/comm").read_text().strip() == "java":
                    return int(pid)
    return None


def _wait(ready: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not ready():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.parametrize(
    "seconds", [0.0, 4.0, *(pytest.param(s, marks=pytest.mark.soak) for s in (2.0, 7.0, 10.0))]
)
def test_ctrl_c_while_spark_starts_and_before_the_first_row(
    start: Callable[..., Cli], seconds: float
) -> None:
    """Ctrl-C ends the command without an error, at the launch of the JVM and at later moments."""
    process = start(SELECT)
    process.wait_for("starting Spark")
    _wait(lambda: _java_of(process))
    time.sleep(seconds)
    process.process.send_signal(signal.SIGINT)
    code, _, err = process.end()
    assert code == 0, err
    assert "Traceback" not in err
    assert "rror" not in err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_job_is_stopped_while_spark_starts(
    start: Callable[..., Cli], number: signal.Signals, tmp_path: Path
) -> None:
    process = start(INSERT, "--checkpoint", str(tmp_path / "c"))
    process.wait_for("starting Spark")
    _wait(lambda: _java_of(process))
    process.process.send_signal(number)
    code, _, err = process.end()
    assert code == 0, err
    found = job_at(tmp_path / "c")
    assert found is not None
    assert (found.state, found.error) == (JobState.STOPPED, None)


def test_a_killed_jvm_is_reported(start: Callable[..., Cli], tmp_path: Path) -> None:
    process = start(INSERT, "--checkpoint", str(tmp_path / "c"))
    process.wait_for("running counts")
    java = _java_of(process)
    assert java is not None
    os.kill(java, signal.SIGKILL)
    code, _, err = process.end()
    assert code == 1
    lines = [line for line in err.splitlines() if "SPARK_ENDED" in line]
    assert lines, err
    assert lines[0].startswith("error: SPARK_ENDED: Spark's JVM has ended: killed by SIGKILL. Hint")
    assert "Traceback" not in err
    assert "report" not in err


def test_a_job_runs_without_a_writable_log_folder(
    start: Callable[..., Cli], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A job runs although its cache has no writable folder for logs.

    The suite runs as root, for whom no folder is read-only. A file therefore takes the place of the
    folder.
    """
    cache = tmp_path / "cache"
    cache.mkdir()
    for folder in cache_dir().iterdir():
        if folder.name != "logs":
            (cache / folder.name).symlink_to(folder)
    (cache / "logs").write_text("no folder")
    monkeypatch.setenv("STREAMTABLE_CACHE", str(cache))
    code, out, err = start(SELECT, "--bounded").end()
    assert code == 0, err
    assert "Received a total of 6 rows" in out
    line = next(line for line in err.splitlines() if line.startswith("cannot write into"))
    log = Path(line.rsplit(" ", 1)[-1])
    assert str(cache / "logs") in line
    assert log.is_file()
    shutil.rmtree(log.parent)
