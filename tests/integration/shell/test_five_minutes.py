"""The page *Five minutes*, typed into the shell as a new user would."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pexpect
from tests.integration.jobs.support import PATIENCE_S

if TYPE_CHECKING:
    from streamtable.devbroker.broker import Broker

_PAGE = Path(__file__).parents[3] / "docs" / "start" / "five-minutes.md"
_SQL = re.compile(r"^```sql\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_PROMPT = "streamtable>"


def test_five_minutes(own_broker: Broker, tmp_path: Path) -> None:
    text = _PAGE.read_text(encoding="utf-8")
    orders, totals, limited, topic, insert, read = _SQL.findall(
        text.replace("127.0.0.1:9092", own_broker.bootstrap_servers)
    )
    shell: pexpect.spawn[str] = pexpect.spawn(
        sys.executable,
        ["-m", "streamtable", "sql", "--history", str(tmp_path / "history")],
        encoding="utf-8",
        timeout=PATIENCE_S,
        dimensions=(40, 120),
    )
    try:
        shell.expect_exact(_PROMPT)
        for statement, seen in ((orders, "OK"), (topic, "OK")):
            shell.send(statement.replace("\n", "\r"))
            shell.expect_exact(seen)
        for query, seen in ((totals, r"5 rows, \d+ changes"), (limited, r"[1-5] rows, ")):
            shell.send(query.replace("\n", "\r"))
            shell.expect(seen)
            shell.sendintr()
            shell.expect_exact("the query is ended")
        shell.send(insert.replace("\n", "\r"))
        shell.expect_exact("is started")
        # The job creates the topic, after which it can be read.
        for _ in range(int(PATIENCE_S)):
            shell.send(read.replace("\n", "\r"))
            if shell.expect([r"5 rows, \d+ changes", "TOPIC_MISSING"]) == 0:
                break
        shell.sendintr()
        shell.expect_exact("the query is ended")
        shell.sendline("STOP JOB '1';")
        shell.expect_exact("has ended: CANCELED")
    finally:
        shell.close(force=True)
