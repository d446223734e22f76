"""A process named so that another one with a recycled pid is never taken for it.

Run as a program, this file is a guard: it stops the process it is given once its own standard
input ends, which the kernel sees to however the holder of the other end died.
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
    """A process on this machine.

    Attributes:
        pid: its number.
        started: when it started, as the system tells it; only good for comparing.
    """

    pid: int
    started: str

    @staticmethod
    def of(pid: int) -> Process | None:
        """The live process of that number, or None; a zombie is not alive."""
        started = _linux_start(pid) if sys.platform == "linux" else _bsd_start(pid)
        return None if started is None else Process(pid, started)

    @property
    def alive(self) -> bool:
        """Whether this very process still runs."""
        return Process.of(self.pid) == self

    def stop(self, grace_seconds: float) -> None:
        """Ask it to end, insist after the grace period; returns when it is gone."""
        if grace_seconds > 0:
            self._signal(signal.SIGTERM)
            if self._gone_within(grace_seconds):
                return
        self._signal(signal.SIGKILL)
        self._gone_within(grace_seconds + 10)

    def guarded(self) -> subprocess.Popen[bytes]:
        """A guard that stops this process when ours is gone, or when its `stdin` is closed."""
        return subprocess.Popen(  # noqa: S603 - this file
            [sys.executable, "-IS", __file__, str(self.pid), self.started],
            stdin=subprocess.PIPE,
            start_new_session=True,
        )

    def _signal(self, number: signal.Signals) -> None:
        if self.alive:
            os.kill(self.pid, number)

    def _gone_within(self, seconds: float) -> bool:
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
    # The second field is a name in brackets that may hold anything; counting starts behind it.
    fields = stat.rpartition(")")[2].split()
    state, started = fields[0], fields[19]
    return None if state == "Z" else started


def _bsd_start(pid: int) -> str | None:
    told = subprocess.run(  # noqa: S603 - a number is all that varies
        ["/bin/ps", "-o", "stat=,lstart=", "-p", str(pid)],
        check=False,
        capture_output=True,
        text=True,
    ).stdout.split(maxsplit=1)
    return None if len(told) < 2 or told[0].startswith("Z") else told[1].strip()


if __name__ == "__main__":
    sys.stdin.buffer.read()
    Process(int(sys.argv[1]), sys.argv[2]).stop(grace_seconds=10)
