"""Process identified by pid and start time, so that a reused pid is not mistaken for it.

Run as a program, this file is a guard: it stops the given process when the guard's standard input
ends. The kernel closes the input when the process at its other end dies, however that process died.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

_POLL_SECONDS = 0.05


@dataclass(frozen=True)
class Process:
    """Process on this machine.

    Attributes:
        pid: process id.
        started: start time as reported by the system; only valid for comparison.
    """

    pid: int
    started: str

    @staticmethod
    def of(pid: int) -> Process | None:
        """Return the live process with this pid, or None; a zombie is not alive."""
        started = _linux_start(pid) if sys.platform == "linux" else _bsd_start(pid)
        return None if started is None else Process(pid, started)

    @property
    def alive(self) -> bool:
        """Whether this process still runs."""
        return Process.of(self.pid) == self

    def stop(self, grace_seconds: float) -> None:
        """Send SIGTERM, and SIGKILL after the grace period; return when the process has ended."""
        if grace_seconds > 0:
            self._signal(signal.SIGTERM)
            if self._ended_within(grace_seconds):
                return
        self._signal(signal.SIGKILL)
        self._ended_within(grace_seconds + 10)

    def guarded(self) -> subprocess.Popen[bytes]:
        """Start a guard that stops this process when ours ends or when the guard's input ends."""
        return subprocess.Popen(  # noqa: S603 - this file
            [sys.executable, "-IS", __file__, str(self.pid), self.started],
            stdin=subprocess.PIPE,
            start_new_session=True,
        )

    def _signal(self, number: signal.Signals) -> None:
        if self.alive:
            os.kill(self.pid, number)

    def _ended_within(self, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while self.alive:
            if time.monotonic() > deadline:
                return False
            time.sleep(_POLL_SECONDS)
        return True


def _linux_start(pid: int) -> str | None:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    # The second field is a name in parentheses with any characters; count the fields after it.
    fields = stat.rpartition(")")[2].split()
    state, started = fields[0], fields[19]
    return None if state == "Z" else started


def _bsd_start(pid: int) -> str | None:
    listed = subprocess.run(  # noqa: S603 - a number is all that varies
        ["/bin/ps", "-o", "stat=,lstart=", "-p", str(pid)],
        check=False,
        capture_output=True,
        text=True,
    ).stdout.split(maxsplit=1)
    return None if len(listed) < 2 or listed[0].startswith("Z") else listed[1].strip()


if __name__ == "__main__":
    sys.stdin.buffer.read()
    Process(int(sys.argv[1]), sys.argv[2]).stop(grace_seconds=10)
