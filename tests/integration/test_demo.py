"""`streamtable demo` as users run it: in its own process, on a terminal or a pipe, with Ctrl-C."""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from streamtable.demo.page_views import Tally, page_views

_DEMO = (sys.executable, "-m", "streamtable", "demo")
_ROW = re.compile(r"│ (?P<region>[A-Z][A-Za-z ]+?) +│ +(?P<pv>[\d,]+) │ +(?P<uv>[\d,]+) │")
_SECONDS_TO_STOP = 60.0


class Demo:
    """The command in its own session, on a terminal, and its output so far."""

    def __init__(self, scratch: Path, *arguments: str) -> None:
        self._reader, writer = pty.openpty()
        self.process = subprocess.Popen(
            [*_DEMO, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=writer,
            stderr=writer,
            env={**_environment(scratch), "TERM": "xterm", "COLUMNS": "100"},
            start_new_session=True,
        )
        os.close(writer)
        self._printed = b""
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    @property
    def printed(self) -> str:
        return self._printed.decode(errors="replace")

    def __enter__(self) -> Demo:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def wait_for(self, text: str, seconds: float = 120) -> None:
        deadline = time.monotonic() + seconds
        while text not in self.printed:
            assert self.process.poll() is None, f"it ended: {self.printed}"
            assert time.monotonic() < deadline, f"no '{text}' in {self.printed}"
            time.sleep(0.1)

    def interrupt(self) -> int:
        self.process.send_signal(signal.SIGINT)
        code = self.process.wait(_SECONDS_TO_STOP)
        self._thread.join(5)
        return code

    def _read(self) -> None:
        try:
            while data := os.read(self._reader, 65_536):
                self._printed += data
        except OSError:  # the other side has closed the terminal
            pass


def _environment(scratch: Path) -> dict[str, str]:
    """Return an environment for the demo, with temporary files in the folder.

    The list of jobs outlives the demo, and is therefore in the parent folder.
    """
    return {**os.environ, "TMPDIR": str(scratch), "XDG_RUNTIME_DIR": str(scratch.parent)}


@pytest.fixture
def scratch(tmp_path: Path) -> Iterator[Path]:
    """Create a folder for temporary files. At the end, no process with this folder may be left."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    yield folder
    deadline = time.monotonic() + 30
    while left := _started_with(folder):
        assert time.monotonic() < deadline, f"left running: {left}"
        time.sleep(0.1)


def test_bounded_demo_counts_the_produced_page_views(scratch: Path) -> None:
    done = subprocess.run(
        [*_DEMO, "--bounded", "--events", "20000", "--seed", "7"],
        check=False,
        env=_environment(scratch),
        capture_output=True,
        text=True,
        timeout=180,
    )
    assert done.returncode == 0, done.stderr
    assert "matches the produced page views" in done.stdout

    tally, views = Tally(), page_views(seed=7)
    for _ in range(20_000):
        tally.add(next(views))
    shown = {
        (m["region"],): {"user_region": m["region"], "pv": _number(m["pv"]), "uv": _number(m["uv"])}
        for m in _ROW.finditer(done.stdout)
    }
    assert shown == tally.rows()
    assert list(scratch.iterdir()) == []


def test_live_demo_counts_from_the_first_event_and_ends_by_ctrl_c(scratch: Path) -> None:
    with Demo(scratch, "--events", "3000", "--rate", "2000", "--seed", "7") as demo:
        demo.wait_for("starting Kafka")
        demo.wait_for("matches the produced page views")
        demo.wait_for("3,000 page views produced, 3,000 counted")
        assert demo.interrupt() == 0, demo.printed
    assert "Traceback" not in demo.printed
    assert list(scratch.iterdir()) == []


# Seconds after "starting Spark": before its JVM is launched, and while the JVM starts.
@pytest.mark.parametrize("seconds", [pytest.param(0.0, marks=pytest.mark.soak), 2.5])
def test_ctrl_c_during_startup_leaves_no_files(scratch: Path, seconds: float) -> None:
    with Demo(scratch) as demo:
        demo.wait_for("starting Spark")
        time.sleep(seconds)
        assert demo.interrupt() == 0, demo.printed
    assert "Traceback" not in demo.printed
    assert list(scratch.iterdir()) == []


def _number(text: str) -> int:
    return int(text.replace(",", ""))


def _started_with(folder: Path) -> list[str]:
    """Return the processes with this temporary folder; none if the system has no /proc."""
    found = []
    for environ in Path("/proc").glob("[0-9]*/environ"):
        try:
            if f"TMPDIR={folder}\0".encode() in environ.read_bytes():
                found.append((environ.parent / "cmdline").read_text().replace("\0", " "))
        except OSError:  # the process has just ended, or belongs to another user
            continue
    return found
