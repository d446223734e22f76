"""A proof in a process of its own: start, CPU time, output and end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

#: The longest wait after SIGTERM, in seconds.
_GRACE_S = 5.0

_POLL_S = 0.05


@dataclass(frozen=True)
class EndedProcess:
    """A process that has ended.

    Attributes:
        code: exit code; negative for a signal.
        out: standard output.
        err: standard error.
        cpu_s: CPU time in seconds, with the child processes that it has waited for.
    """

    code: int
    out: str
    err: str
    cpu_s: float


class ProofProcess:
    """A running process with its own session.

    The arguments go to its standard input as a JSON list on one line, so that no list of processes
    shows them. The input stays open until the process ends or this process does.

    Args:
        command: the program.
        arguments: its arguments.

    Raises:
        OSError: the process cannot be started.
    """

    def __init__(self, command: Sequence[str], arguments: Sequence[str]) -> None:
        # Not pipes: nothing reads before the end.
        self._out, self._err = tempfile.TemporaryFile(), tempfile.TemporaryFile()  # noqa: SIM115
        self._process = subprocess.Popen(  # noqa: S603 - our own program
            command,
            stdin=subprocess.PIPE,
            stdout=self._out,
            stderr=self._err,
            start_new_session=True,
        )
        assert self._process.stdin is not None  # noqa: S101 - a pipe
        with suppress(BrokenPipeError):  # it has ended, which `poll` reports
            self._process.stdin.write(json.dumps(list(arguments)).encode() + b"\n")
            self._process.stdin.flush()

    def poll(self) -> EndedProcess | None:
        """Return the process if it has ended; None if it runs."""
        # `Popen.poll` does not return the CPU time.
        pid, status, usage = os.wait4(self._process.pid, os.WNOHANG)
        if pid == 0:
            return None
        self._process.returncode = os.waitstatus_to_exitcode(status)
        texts = []
        for file in (self._out, self._err):
            file.seek(0)
            texts.append(file.read().decode(errors="replace"))
            file.close()
        assert self._process.stdin is not None  # noqa: S101 - a pipe
        with suppress(BrokenPipeError):
            self._process.stdin.close()
        cpu_s = usage.ru_utime + usage.ru_stime
        return EndedProcess(self._process.returncode, texts[0], texts[1], cpu_s)

    def stop(self) -> None:
        """End the process and its child processes."""
        self._signal(signal.SIGTERM)
        deadline = time.monotonic() + _GRACE_S
        while self.poll() is None:
            if time.monotonic() > deadline:
                self._signal(signal.SIGKILL)
            time.sleep(_POLL_S)

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, number)
