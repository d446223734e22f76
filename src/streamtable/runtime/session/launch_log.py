"""Log file for the output of Spark's JVM, in the cache or in a temporary directory."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from streamtable.jvm.install.cache import cache_dir

#: Number of log files that the cache keeps, one per start.
_LOGS_KEPT = 10


@contextmanager
def launch_output(verbose: bool, notice: Callable[[str], None]) -> Iterator[None]:
    """Redirect the output of a JVM that is launched in this block, with Spark's log, to a file.

    A process inherits standard error at its launch, and a JVM prints lines there at startup that no
    setting turns off.

    Args:
        verbose: show all output, and redirect nothing.
        notice: takes one line for the user if the cache is not writable.
    """
    if verbose:
        yield
        return
    file = _opened(notice)
    sys.stderr.flush()
    kept = os.dup(2)
    os.dup2(file, 2)
    os.close(file)
    try:
        yield
    finally:
        sys.stderr.flush()
        os.dup2(kept, 2)
        os.close(kept)


def _opened(notice: Callable[[str], None]) -> int:
    """Return the file descriptor of a new log."""
    logs = cache_dir() / "logs"
    try:
        logs.mkdir(parents=True, exist_ok=True)
        for old in sorted(logs.glob("spark-*.log"), key=_written)[:-_LOGS_KEPT]:
            old.unlink(missing_ok=True)
        return _new(logs / f"spark-{os.getpid()}.log")
    except OSError as error:
        log = Path(tempfile.mkdtemp(prefix="streamtable-log-")) / "spark.log"
        notice(f"cannot write into {logs} ({error.strerror}): the log of Spark is {log}")
        return _new(log)


def _written(log: Path) -> float:
    """Return the time of the last write to a log; 0 if another start has just removed the log."""
    try:
        return log.stat().st_mtime
    except FileNotFoundError:
        return 0


def _new(log: Path) -> int:
    return os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
