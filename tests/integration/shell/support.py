"""The interactive shell in its own pseudo-terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pexpect
from tests.integration.jobs.support import PATIENCE_S

#: The prompt without its trailing blank, which may be a cursor movement.
PROMPT = "streamtable>"


@contextmanager
def shell(folder: Path, *arguments: str) -> Iterator[pexpect.spawn[str]]:
    """Yield `streamtable sql` at its prompt. Its history and all output are in the folder."""
    history = ("--history", str(folder / "history"))
    quick = ("--set", "execution.real-time.practice-plans=0")
    process: pexpect.spawn[str] = pexpect.spawn(
        sys.executable,
        ["-m", "streamtable", "sql", *history, *quick, *arguments],
        encoding="utf-8",
        timeout=PATIENCE_S,
        dimensions=(40, 120),
        cwd=str(folder),
    )
    try:
        with (folder / "terminal.log").open("w") as log:
            process.logfile_read = log
            process.expect_exact(PROMPT)
            yield process
    finally:
        process.close(force=True)
