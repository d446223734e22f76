"""What the commands that take a script share: its arguments, and loading it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from streamtable.core.errors import Condition, StreamtableError
from streamtable.session import Session, fixed_settings

_F = TypeVar("_F", bound=Callable[..., Any])


def pairs(
    _context: click.Context, parameter: click.Parameter, values: tuple[str, ...]
) -> dict[str, str]:
    """The values of a repeated option `key=value`, for click."""
    found = {}
    for value in values:
        key, equals, text = value.partition("=")
        if not equals or not key.strip():
            message = f"'{value}' is not of the form key=value"
            raise click.BadParameter(message, param=parameter)
        found[key.strip()] = text
    return found


def script_arguments(function: _F) -> _F:
    """FILE, `--set` and `--var`."""
    decorators = (
        click.argument("file", type=click.Path(path_type=Path)),
        click.option(
            "--set",
            "settings",
            metavar="KEY=VALUE",
            multiple=True,
            callback=pairs,
            help="A setting; wins over SET in the script.",
        ),
        click.option(
            "--var",
            "variables",
            metavar="NAME=VALUE",
            multiple=True,
            callback=pairs,
            help="A value for ${NAME} in the script.",
        ),
    )
    for decorate in reversed(decorators):
        function = decorate(function)
    return function


def load_script(file: Path, settings: dict[str, str], variables: dict[str, str]) -> Session:
    """A session that has taken the script in.

    Raises:
        StreamtableError: FILE_UNREADABLE, or the script's first fault.
    """
    session = Session(settings=fixed_settings(settings))
    session.load(_read(file), str(file), variables)
    return session


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except OSError as error:
        reason: object = error.strerror
    except UnicodeDecodeError as error:
        reason = f"it is not UTF-8 at byte {error.start}"
    raise StreamtableError(
        Condition.FILE_UNREADABLE, path=file, reason=reason, hint="give the path of a SQL script"
    )
