"""The tutorial, typed into the shell as a reader would; every result of the page must appear."""

from __future__ import annotations

import itertools
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pexpect
from tests.integration.jobs.support import PATIENCE_S

if TYPE_CHECKING:
    from streamtable.devbroker.broker import Broker

_PAGE = Path(__file__).parents[3] / "docs" / "start" / "tutorial.md"
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_PROMPT = "streamtable>"
#: What the shell prints after a statement.
_DONE = {
    "CREATE": "OK",
    "SET": "OK",
    "RESET": "OK",
    "INSERT": "is started",
    "SHOW": "RUNNING",
    "STOP": "has ended",
}


def test_tutorial(own_broker: Broker, tmp_path: Path) -> None:
    text = _PAGE.read_text(encoding="utf-8")
    text = text.replace("127.0.0.1:9092", own_broker.bootstrap_servers)
    blocks: list[tuple[str, str]] = _BLOCK.findall(text)
    shell: pexpect.spawn[str] = pexpect.spawn(
        sys.executable,
        ["-m", "streamtable", "sql", "--history", str(tmp_path / "history")],
        encoding="utf-8",
        timeout=PATIENCE_S,
        dimensions=(40, 120),
        cwd=str(tmp_path),
        env={**os.environ, "COLUMNS": "120"},
    )
    results = 0
    try:
        shell.expect_exact(_PROMPT)
        for (language, block), (following, expected) in itertools.pairwise(blocks):
            if language == "python":
                subprocess.run([sys.executable, "-c", block], check=True, timeout=60)
            elif language == "sql" and following == "":
                _until(shell, block, expected.splitlines())
                results += 1
            elif language == "sql":
                shell.send(block.replace("\n", "\r"))
                shell.expect_exact(_DONE[block.split()[0]])
    finally:
        shell.close(force=True)
    assert results == text.count("```\n|")


def _until(shell: pexpect.spawn[str], select: str, rows: list[str]) -> None:
    """Repeat a SELECT until it shows exactly the rows."""
    deadline = time.monotonic() + PATIENCE_S
    found: list[str] = []
    while found != rows:
        assert time.monotonic() < deadline, f"{select}: {found}, and not {rows}"
        shell.send(select.replace("\n", "\r"))
        if shell.expect([r"Received a total of \d+ rows?", "TOPIC_MISSING", "Empty set"]) == 0:
            lines = [line.strip() for line in shell.before.splitlines() if line.startswith("|")]
            cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[1:]]
            found = sorted("| " + " | ".join(row) + " |" for row in cells)
