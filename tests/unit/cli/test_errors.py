"""Errors of commands: one line, an exit code, and a traceback only with `--debug`."""

from __future__ import annotations

import sys
from types import ModuleType

import click
import pytest

from streamtable.cli import main as main_module
from streamtable.cli.main import SUBCOMMANDS, Subcommand, main
from streamtable.cli.script import notice
from streamtable.core.errors import Condition, InternalError, StreamtableError
from streamtable.core.secrets import MASK, hide

USER_ERROR = StreamtableError(Condition.UNKNOWN_TABLE, hint="look", table="t")


def run_raising(
    error: BaseException, words: list[str], monkeypatch: pytest.MonkeyPatch
) -> int | str | None:
    """Return the exit code of `streamtable` with a subcommand `broken` that raises `error`."""

    @click.command()
    def command() -> None:
        raise error

    module = ModuleType("broken_subcommand")
    module.__dict__["command"] = command
    monkeypatch.setitem(sys.modules, "broken_subcommand", module)
    monkeypatch.setattr(
        main_module, "SUBCOMMANDS", {**SUBCOMMANDS, "broken": Subcommand("broken_subcommand", "")}
    )
    monkeypatch.setattr(sys, "argv", ["streamtable", *words])
    with pytest.raises(SystemExit) as caught:
        main()
    return caught.value.code


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (USER_ERROR, 1, f"error: {USER_ERROR}\n"),
        (
            InternalError("a\nb"),
            70,
            "internal error: a b. Please report this; --debug shows the traceback\n",
        ),
        (
            KeyError("k"),
            70,
            "internal error: KeyError: 'k'. Please report this; --debug shows the traceback\n",
        ),
        (click.UsageError("odd"), 2, "Error: odd\n"),
        (KeyboardInterrupt(), 130, "\n"),
    ],
)
def test_errors_print_a_single_line_and_set_the_exit_code(
    error: BaseException,
    code: int,
    line: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run_raising(error, ["broken"], monkeypatch) == code
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.endswith(line)
    assert "Traceback" not in said.err


def test_debug_shows_the_traceback_and_keeps_the_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_raising(USER_ERROR, ["--debug", "broken"], monkeypatch) == 1
    said = capsys.readouterr().err
    assert said.startswith("Traceback")
    assert said.endswith(f"error: {USER_ERROR}\n")


def test_unknown_subcommand_is_wrong_usage(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_raising(USER_ERROR, ["runn"], monkeypatch) == 2
    assert "No such command 'runn'" in capsys.readouterr().err


def test_notices_have_no_secrets(capsys: pytest.CaptureFixture[str]) -> None:
    hide("secret-4711")
    notice("the password is secret-4711")
    assert capsys.readouterr().err == f"the password is {MASK}\n"
