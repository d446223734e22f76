"""Typed text in the shell: ends of statements, shortcuts, completion, colours, history."""

from __future__ import annotations

from pathlib import Path

import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from pygments.token import Token

import streamtable
from streamtable.shell.colours import FlinkSqlLexer
from streamtable.shell.completion import SqlCompleter
from streamtable.shell.history import SqlHistory
from streamtable.shell.shell import Shell
from streamtable.shell.shortcuts import help_text, shortcut_of
from streamtable.shell.statements import is_whole, statements, without_leaving


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("", True),
        ("SELECT 1", False),
        ("SELECT 1;", True),
        ("SELECT 1; ", True),
        ("SELECT 1; SELECT 2", False),
        ("SELECT ';", False),
        ("SELECT ';'", False),
        ("SELECT 1 -- ;", False),
        ("SELECT 1 /* ;", False),
        ("SELECT `a;", False),
        ("BEGIN STATEMENT SET; INSERT INTO t SELECT 1;", False),
        ("BEGIN STATEMENT SET; INSERT INTO t SELECT 1; END;", True),
        ('SELECT "a";', True),
        ("SELECT ${missing};", True),
    ],
)
def test_a_statement_ends_at_its_semicolon(text: str, whole: bool) -> None:
    assert is_whole(text, {}) is whole


def test_statements_keep_their_position_in_the_script() -> None:
    first, second = statements("SET 'a' = ';';\n  SHOW ${x};\n-- end", "f.sql", {"x": "TABLES"})
    assert first == "SET 'a' = ';'"
    assert second == " " * 14 + "\n  SHOW ${x}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT 1;", None),
        ("\\d", ("\\d", "")),
        ("\\d  t;", ("\\d", "t")),
        ("quit;", ("\\q", "")),
        ("Help", ("\\?", "")),
    ],
)
def test_shortcuts(text: str, expected: tuple[str, str] | None) -> None:
    assert shortcut_of(text) == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("\\sto 1", "did you mean '\\stop'?"),
        ("\\stop", "expected JOB after \\stop, found nothing"),
        ("\\q now", "expected nothing after \\q, found 'now'"),
        ("\\zzzz", "\\? lists the shortcuts"),
    ],
)
def test_wrong_shortcuts(text: str, words: str) -> None:
    with pytest.raises(streamtable.StreamtableError) as refused:
        shortcut_of(text)
    assert words in str(refused.value)
    assert all(name in help_text() for name in ("\\d [TABLE]", "\\stop JOB", "result-mode"))


@pytest.mark.parametrize(
    ("script", "kept"),
    [
        ("SELECT 1;\nQUIT;\n", "SELECT 1;\n"),
        ("SELECT 1; exit", "SELECT 1; "),
        ("QUIT; SELECT 1;", "QUIT; SELECT 1;"),
        ("SELECT 'QUIT'", "SELECT 'QUIT'"),
        ("", ""),
    ],
)
def test_a_script_may_end_with_quit(script: str, kept: str) -> None:
    assert without_leaving(script, "f.sql", {}) == kept


def test_the_shell_survives_errors_in_statements_with_secrets(
    capsys: pytest.CaptureFixture[str],
) -> None:
    shell = Shell(streamtable.connect(), {"t": "a"})
    assert shell.enter("CREATE TABLE ${t} (x INT) WITH ('token' = 'b');")
    assert "MISSING_OPTION" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("raised", "debug", "told", "traces"),
    [
        (KeyError("k"), False, "internal error: KeyError: 'k'", False),
        (KeyError("k"), True, "internal error: KeyError: 'k'", True),
        (KeyboardInterrupt(), False, "interrupted", False),
    ],
)
def test_the_shell_survives_bugs_and_interrupts(
    raised: BaseException,
    debug: bool,
    told: str,
    traces: bool,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    shell = Shell(streamtable.connect(), {}, debug=debug)

    def fail(*_: object) -> None:
        raise raised

    monkeypatch.setattr("streamtable.shell.shell.display", fail)
    assert shell.enter("SHOW TABLES;")
    shown = "".join(capsys.readouterr())
    assert told in shown
    assert ("Traceback" in shown) == traces


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("SEL", {"SELECT"}),
        ("sel", {"select"}),
        ("\\d", {"\\d", "\\dd", "\\dv", "\\df", "\\dj"}),
        ("SELECT * FROM or", {"orders", "orders_2"}),
        ("INSERT INTO orders_", {"orders_2"}),
        ("SELECT cust|FROM orders", {"customer"}),
        ("SELECT o.|FROM orders AS o", {"o.id", "o.customer"}),
        ("SELECT COUNT_|FROM orders", set()),
        ("SELECT JSON_VAL", {"JSON_VALUE("}),
        ("SET 'execution.mo", {"execution.mode"}),
        ("SHOW TABLES; SET 'execution.mo", {"execution.mode"}),
        ("CREATE TABLE x (a INT) WITH ('con", {"connector"}),
        ("CREATE TABLE x (a INT) WITH ('connector' = 'upsert", {"upsert-kafka"}),
        (
            "CREATE TABLE x (a INT) WITH ('connector' = 'kafka', 'format' = 'debez",
            {"debezium-avro-confluent", "debezium-json"},
        ),
        (
            "CREATE TABLE x (a INT) WITH ('connector' = 'kafka', 'scan.startup.m",
            {"scan.startup.mode"},
        ),
        (
            (
                "CREATE TABLE x (a INT) WITH ('connector' = 'kafka', 'value.format' = 'json',"
                " 'value.json.ignore"
            ),
            {"value.json.ignore-parse-errors"},
        ),
        ("STOP JOB '", set()),
    ],
)
def test_completion(typed: str, expected: set[str]) -> None:
    session = streamtable.connect()
    table = "(id INT, customer STRING) WITH ('connector' = 'datagen')"
    session.execute_sql(f"CREATE TABLE orders {table}; CREATE TABLE orders_2 {table}")
    before, bar, after = typed.partition("|")
    document = Document(before + (" " + after if bar else ""), len(before))
    found = SqlCompleter(session).get_completions(document, CompleteEvent())
    assert {completion.text for completion in found} == expected


def test_colours_of_an_unfinished_text() -> None:
    typed = r"SELECT E'it\'s', 'a, `b` -- c"
    tokens = {text: kind for kind, text in FlinkSqlLexer().get_tokens(f"{typed}\n")}
    assert tokens["SELECT"] is Token.Keyword
    assert tokens[r"E'it\'s'"] is Token.Literal.String.Single
    assert tokens["'a, `b` -- c\n"] is Token.Literal.String.Single


def test_history_has_no_secrets(tmp_path: Path) -> None:
    history = SqlHistory(str(tmp_path / "history"))
    history.append_string("SELECT 1;")
    history.append_string("SET 'spark.hadoop.fs.s3a.secret.key' = 'abc';")
    assert list(SqlHistory(str(tmp_path / "history")).load_history_strings()) == ["SELECT 1;"]
