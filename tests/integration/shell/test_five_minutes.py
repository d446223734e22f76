"""The page *Five minutes*, typed into the shell as a new user would."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from tests.integration.jobs.support import PATIENCE_S
from tests.integration.shell.support import shell

if TYPE_CHECKING:
    from streamtable.devbroker.broker import Broker

_PAGE = Path(__file__).parents[3] / "docs" / "start" / "five-minutes.md"
_SQL = re.compile(r"^```sql\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_five_minutes(own_broker: Broker, tmp_path: Path) -> None:
    text = _PAGE.read_text(encoding="utf-8")
    orders, totals, limited, topic, insert, read = _SQL.findall(
        text.replace("127.0.0.1:9092", own_broker.bootstrap_servers)
    )
    with shell(tmp_path) as terminal:
        for statement, seen in ((orders, "OK"), (topic, "OK")):
            terminal.send(statement.replace("\n", "\r"))
            terminal.expect_exact(seen)
        for query, seen in ((totals, r"5 rows, \d+ changes"), (limited, r"[1-5] rows, ")):
            terminal.send(query.replace("\n", "\r"))
            terminal.expect(seen)
            terminal.sendintr()
            terminal.expect_exact("the query is ended")
        terminal.send(insert.replace("\n", "\r"))
        terminal.expect_exact("is started")
        # The job creates the topic; before that, the topic cannot be read.
        for _ in range(int(PATIENCE_S)):
            terminal.send(read.replace("\n", "\r"))
            if terminal.expect([r"5 rows, \d+ changes", "TOPIC_MISSING"]) == 0:
                break
        terminal.sendintr()
        terminal.expect_exact("the query is ended")
        terminal.sendline("STOP JOB '1';")
        terminal.expect_exact("has ended: CANCELED")
