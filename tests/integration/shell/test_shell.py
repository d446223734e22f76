"""`streamtable sql` in a pseudo-terminal, against a real broker."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pexpect
import pytest
from tests.integration.jobs.support import run
from tests.integration.shell.support import PROMPT, shell

from streamtable.testing.topics import produce_json

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

TABLES = """CREATE TABLE orders (
  customer STRING,
  amount INT
) WITH (
  'connector' = 'kafka', 'topic' = '{topic}', 'scan.startup.mode' = 'earliest-offset',
  'properties.bootstrap.servers' = '{servers}', 'format' = 'json'
);
CREATE TABLE totals (customer STRING, amount INT, PRIMARY KEY (customer) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '{topic}-totals',
  'properties.bootstrap.servers' = '{servers}', 'key.format' = 'json', 'value.format' = 'json'
);
"""
INSERT = "INSERT INTO totals SELECT customer, SUM(amount) FROM orders GROUP BY customer;"


@pytest.fixture
def orders(broker: Broker, topic: Topics) -> str:
    name = topic("orders")
    rows = [("Ada", 12), ("Bob", 5), ("Ada", 30)]
    produce_json(broker.bootstrap_servers, name, ({"customer": c, "amount": a} for c, a in rows))
    return name


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[pexpect.spawn[str]]:
    settings = ["--set", "parallelism.default=2", "--set", "execution.mode=micro-batch"]
    with shell(tmp_path, *settings) as process:
        yield process


def _type(terminal: pexpect.spawn[str], text: str, *expected: str) -> None:
    terminal.sendline(text)
    for words in expected:
        terminal.expect_exact(words)


def test_an_interactive_session_with_a_live_table(
    terminal: pexpect.spawn[str], broker: Broker, orders: str, tmp_path: Path
) -> None:
    script = tmp_path / "tables.sql"
    script.write_text(TABLES.format(topic=orders, servers=broker.bootstrap_servers))
    _type(terminal, "\\d", "Empty set")
    _type(terminal, "SELEC 1;", "SYNTAX", "did you mean 'SELECT'?", "1 | SELEC 1")
    _type(terminal, f"\\i {script}", "OK", "OK")
    _type(terminal, "\\d totals", "PRI(customer)", PROMPT)
    # A statement of several lines, in which Tab completes the name of a table.
    terminal.send("SELECT customer, SUM(amount) AS total\rFROM ord\t")
    terminal.expect_exact("ers")
    terminal.send("\rGROUP BY customer;\r")
    for words in ("| op |", "Ada", "42"):
        terminal.expect_exact(words)
    terminal.sendintr()
    terminal.expect_exact("the query is ended")
    _type(terminal, "SET 'sql-client.execution.result-mode' = 'table';", "OK")
    terminal.sendline("SELECT customer, amount FROM orders;")
    terminal.expect_exact("3 rows, 3 changes")
    terminal.sendintr()
    terminal.expect_exact("the query is ended")

    _type(terminal, INSERT, "job 1 (insert-into_totals) is started")
    _type(terminal, "SHOW JOBS;", "insert-into_totals", "1 row in set")
    _type(terminal, "\\dj 1", "duration")
    # Ctrl-C at the prompt empties the line and stops nothing.
    terminal.expect_exact(PROMPT)
    terminal.send("SELECT half")
    terminal.sendintr()
    # After Ctrl-C, the shell draws the prompt once more before the next prompt takes keys.
    _type(terminal, "SHOW VIEWS;", "Empty set", PROMPT)
    terminal.sendeof()
    terminal.expect_exact("still running, and stopped when you leave. Leave? [y/N]")
    terminal.sendline("n")
    _type(terminal, "STOP JOB '1';", "job 1 (insert-into_totals) has ended: CANCELED")
    _type(terminal, "STOP JOB '1';", "CHANGE_REFUSED", "it has ended: CANCELED")
    _type(terminal, "EXPLAIN " + INSERT, "Sink totals", PROMPT)
    terminal.sendeof()
    terminal.expect(pexpect.EOF)
    terminal.wait()
    assert terminal.exitstatus == 0
    history = (tmp_path / "history").read_text()
    assert "+FROM orders" in history


def test_leaving_stops_the_jobs(
    terminal: pexpect.spawn[str], broker: Broker, orders: str, tmp_path: Path
) -> None:
    script = tmp_path / "job.sql"
    tables = TABLES.format(topic=orders, servers=broker.bootstrap_servers)
    script.write_text(tables + INSERT)
    _type(terminal, f"\\i {script}", "job 1 (insert-into_totals) is started", "running totals")
    _type(terminal, "QUIT;", "Leave? [y/N]")
    terminal.sendline("y")
    terminal.expect(pexpect.EOF)
    terminal.wait()
    assert terminal.exitstatus == 0


def test_scripts(broker: Broker, orders: str, tmp_path: Path) -> None:
    init = tmp_path / "init.sql"
    init.write_text(TABLES.replace("'{topic}", "'${topic}").replace("{servers}", "${servers}"))
    names = ["--var", f"topic={orders}", "--var", f"servers={broker.bootstrap_servers}"]
    batch = ["--set", "execution.runtime-mode=batch", "--set", "parallelism.default=2"]
    script = tmp_path / "job.sql"
    script.write_text(INSERT + "\nSHOW JOBS;")
    code, out, err = run("sql", "-i", str(init), "-f", str(script), *names, *batch)
    assert code == 0, err
    assert "job 1 (insert-into_totals) is started" in out
    assert "1 row in set" in out
    query = "SELECT * FROM totals WHERE amount > 5; EXIT;"
    code, out, err = run("sql", "-i", str(init), "-e", query, *names, *batch)
    assert code == 0, err
    assert out.splitlines()[-3:] == [
        "|                            Ada |          42 |",
        "+--------------------------------+-------------+",
        "Received a total of 1 row",
    ]
    # No statement runs unless all statements are valid.
    script.write_text("SHOW TABLES;\nSHOW TABLES FROM nowhere;")
    code, out, err = run("sql", "-f", str(script))
    assert (code, out) == (1, "")
    assert f"{script}:2:1: UNKNOWN_DATABASE" in err
    assert "2 | SHOW TABLES FROM nowhere;" in err
