"""Log file for the output of Spark's JVM, in the cache or in a temporary directory."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from streamtable.jvm.install.cache import cache_dir

#: Number of log files that the cache keeps, one per start.
_LOGS_KEPT = 10


def launch_log(verbose: bool, notice: Callable[[str], None]) -> Path | None:
    """Return the file for the output of a JVM, with Spark's log.

    A JVM prints lines at its start that no setting turns off.

    Args:
        verbose: show the output; the result is None.
        notice: takes one line for the user if the cache is not writable.
    """
    if verbose:
        return None
    logs = cache_dir() / "logs"
    log = logs / f"spark-{os.getpid()}.log"
    try:
        logs.mkdir(parents=True, exist_ok=True)
        for old in sorted(logs.glob("spark-*.log"), key=_written)[:-_LOGS_KEPT]:
            old.unlink(missing_ok=True)
        log.write_bytes(b"")
    except OSError as error:
        log = Path(tempfile.mkdtemp(prefix="streamtable-log-")) / "spark.log"
        notice(f"cannot write into {logs} ({error.strerror}): the log of Spark is {log}")
    return log


def _written(log: Path) -> float:
    """Return the time of the last write to a log; 0 if another start has just removed the log."""
    try:
        return log.stat().st_mtime
    except FileNotFoundError:
        return 0
