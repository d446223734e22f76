"""Process of spark-submit, and the signals that stop its job."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import FrameType

from streamtable.runtime.submission.line import spark_home

_SIGNALS = (signal.SIGINT, signal.SIGTERM)

#: A shell's exit code for a process that a signal has ended is this number plus the signal number.
_BY_SIGNAL = 128


def run_submit(line: Sequence[str], folder: Path) -> int:
    """Run spark-submit to its end, and return its exit code.

    The first SIGINT or SIGTERM goes to the Python driver of the job, which stops as
    `streamtable run` does. Spark's JVM does not receive it, because the driver still needs the JVM.
    The driver of cluster mode is elsewhere: there, the signal ends spark-submit only. A second
    signal ends all processes of this machine.

    Args:
        line: the command line.
        folder: the folder of its files.
    """
    told = folder / "driver.pid"
    environment = {
        **os.environ,
        "SPARK_HOME": str(spark_home()),
        "STREAMTABLE_SUBMIT_PID": str(told),
    }
    process = subprocess.Popen(  # noqa: S603 - the user's Spark
        line, env=environment, stdin=subprocess.DEVNULL, start_new_session=True
    )
    asked = False

    def stop(_number: int, _frame: FrameType | None) -> None:
        nonlocal asked
        with suppress(ProcessLookupError):
            if asked:
                os.killpg(process.pid, signal.SIGKILL)
            else:
                os.kill(_driver(told) or process.pid, signal.SIGTERM)
        asked = True

    before = {number: signal.signal(number, stop) for number in _SIGNALS}
    try:
        code = process.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    return code if code >= 0 else _BY_SIGNAL - code


def _driver(told: Path) -> int | None:
    """Return the process id of the Python driver; None if it has not started on this machine."""
    try:
        return int(told.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
