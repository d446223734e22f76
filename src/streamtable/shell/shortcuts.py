r"""Shortcuts beside statements: `\d`, `\dj`, `\q` and the words HELP, QUIT and CLEAR."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

from streamtable.core.errors import Condition, Span, StreamtableError, closest
from streamtable.sql.lexer.script import NO_FILE


@dataclass(frozen=True)
class Shortcut:
    """A shortcut.

    Attributes:
        takes: name of its argument; empty if it has none, in brackets if it may be left out.
        help: what it does.
        sql: returns its statement; None: the shell itself does it.
    """

    takes: str
    help: str
    sql: Callable[[str], str] | None = None


def _quoted(text: str) -> str:
    return "'" + text.strip("'").replace("'", "''") + "'"


def _tables(name: str) -> str:
    return f"DESCRIBE {name}" if name else "SHOW TABLES"


def _functions(pattern: str) -> str:
    return f"SHOW FUNCTIONS LIKE {_quoted(pattern)}" if pattern else "SHOW FUNCTIONS"


SHORTCUTS = {
    "\\?": Shortcut("", "Show this help."),
    "\\d": Shortcut("[TABLE]", "List tables and views, or describe one.", _tables),
    "\\dd": Shortcut("TABLE", "Show the CREATE TABLE of a table.", "SHOW CREATE TABLE {}".format),
    "\\dv": Shortcut("", "List views.", lambda _: "SHOW VIEWS"),
    "\\df": Shortcut("[PATTERN]", "List functions; % matches any text.", _functions),
    "\\l": Shortcut("", "List databases.", lambda _: "SHOW DATABASES"),
    "\\c": Shortcut("DATABASE", "Use another database.", "USE {}".format),
    "\\j": Shortcut("", "List jobs.", lambda _: "SHOW JOBS"),
    "\\dj": Shortcut("JOB", "Describe a job.", lambda job: f"DESCRIBE JOB {_quoted(job)}"),
    "\\stop": Shortcut("JOB", "Stop a job.", lambda job: f"STOP JOB {_quoted(job)}"),
    "\\set": Shortcut("", "List settings.", lambda _: "SET"),
    "\\i": Shortcut("FILE", "Run the statements of a file."),
    "\\clear": Shortcut("", "Clear the screen."),
    "\\q": Shortcut("", "Leave; Ctrl-D does the same."),
}
#: Words of Flink's client -> shortcut.
_WORDS = {"HELP": "\\?", "QUIT": "\\q", "EXIT": "\\q", "CLEAR": "\\clear"}


def shortcut_of(text: str) -> tuple[str, str] | None:
    """Return name and argument of a typed shortcut; None for a statement.

    Raises:
        StreamtableError: SYNTAX for an unknown shortcut, or for a wrong number of arguments.
    """
    line = text.strip().removesuffix(";").strip()
    word = _WORDS.get(line.upper())
    if word is not None:
        return word, ""
    if not line.startswith("\\"):
        return None
    name, _, argument = line.partition(" ")
    known = SHORTCUTS.get(name)
    if known is None:
        hint = closest(name, SHORTCUTS) or "\\? lists the shortcuts"
        _refuse("a shortcut", f"'{name}'", hint)
    argument = argument.strip()
    if argument and not known.takes:
        _refuse(f"nothing after {name}", f"'{argument}'", "\\? lists the shortcuts")
    if not argument and known.takes and not known.takes.startswith("["):
        _refuse(f"{known.takes} after {name}", "nothing", "\\? lists the shortcuts")
    return name, argument


def help_text() -> str:
    """Return the help of the shell."""
    lines = [
        "A statement ends with ';' and may have many lines. Tab completes, Ctrl-C ends a running",
        "result, Ctrl-D leaves. An INSERT runs as a job in the background.",
        "",
    ]
    width = max(len(f"{name} {each.takes}") for name, each in SHORTCUTS.items())
    lines += [f"  {f'{n} {each.takes}'.ljust(width)}  {each.help}" for n, each in SHORTCUTS.items()]
    modes = "SET 'sql-client.execution.result-mode' = 'table';"
    return "\n".join([*lines, "", f"  {modes}  or 'changelog', 'tableau': how results are shown"])


def _refuse(expected: str, found: str, hint: str) -> NoReturn:
    at = Span(NO_FILE, 1, 1)
    raise StreamtableError(Condition.SYNTAX, at=at, expected=expected, found=found, hint=hint)
