"""The page *Your first script* runs unchanged. Only the broker is that of the suite."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from streamtable.devbroker.broker import Broker

_ADDRESS = "127.0.0.1:9092"
_PAGE = Path(__file__).parents[2] / "docs" / "start" / "first-script.md"
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def _python(code: str, folder: Path) -> str:
    return subprocess.run(
        [sys.executable, "-c", code], cwd=folder, check=True, capture_output=True, text=True
    ).stdout


def test_first_script(own_broker: Broker, tmp_path: Path) -> None:
    page = _PAGE.read_text(encoding="utf-8").replace(_ADDRESS, own_broker.bootstrap_servers)
    blocks: list[tuple[str, str]] = _BLOCK.findall(page)
    assert [language for language, _ in blocks] == ["sh", "python", "sql", "sh", "python", ""]
    _, (_, produce), (_, script), (_, commands), (_, consume), (_, printed) = blocks

    _python(produce, tmp_path)
    (tmp_path / "totals.sql").write_text(script, encoding="utf-8")
    told: list[str] = []
    for line in commands.splitlines():
        program, *arguments = shlex.split(line)
        assert program == "streamtable"
        done = subprocess.run(
            [sys.executable, "-m", "streamtable", *arguments],
            cwd=tmp_path,
            check=True,
            timeout=240,
            stderr=subprocess.PIPE,
            text=True,
        )
        told.append(done.stderr)
    assert "starting Spark\n" in told[-1]
    assert "orders: read 2 records\ntotals: wrote 1 records\nran for " in told[-1]
    assert "; no checkpoint is kept\n" in told[-1]
    assert _python(consume, tmp_path) == printed
