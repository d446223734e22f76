"""The tutorial, typed into the shell by a reader: the shell shows every result of the page."""

from __future__ import annotations

import itertools
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pexpect
from tests.integration.jobs.support import PATIENCE_S
from tests.integration.shell.support import shell

if TYPE_CHECKING:
    from streamtable.devbroker.broker import Broker

_PAGE = Path(__file__).parents[3] / "docs" / "start" / "tutorial.md"
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
#: First word of a statement -> text that the shell prints once the statement is done.
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
    results = 0
    with shell(tmp_path) as terminal:
        for (language, block), (following, expected) in itertools.pairwise(blocks):
            if language == "python":
                subprocess.run([sys.executable, "-c", block], check=True, timeout=60)
            elif language == "sql" and following == "":
                _until(terminal, block, expected.splitlines())
                results += 1
            elif language == "sql":
                terminal.send(block.replace("\n", "\r"))
                terminal.expect_exact(_DONE[block.split()[0]])
    assert results == text.count("```\n|")


def _until(terminal: pexpect.spawn[str], select: str, rows: list[str]) -> None:
    """Repeat a SELECT until it shows exactly the rows."""
    deadline = time.monotonic() + PATIENCE_S
    found: list[str] = []
    while found != rows:
        assert time.monotonic() < deadline, f"{select}: {found}, and not {rows}"
        terminal.send(select.replace("\n", "\r"))
        if terminal.expect([r"Received a total of \d+ rows?", "TOPIC_MISSING", "Empty set"]) == 0:
            lines = [line.strip() for line in terminal.before.splitlines() if line.startswith("|")]
            cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[1:]]
            found = sorted("| " + " | ".join(row) + " |" for row in cells)
