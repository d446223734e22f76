"""Arguments and loading of a script, shared by all commands that take a script."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from streamtable.core.errors import Condition, StreamtableError, raise_all, singles
from streamtable.core.secrets import without_secrets
from streamtable.core.settings.session import SessionSettings
from streamtable.ingest import is_job_file, require_reader
from streamtable.session import Session, fixed_settings
from streamtable.sql.lexer.script import read_script
from streamtable.sql.statements.jobs import JobStatement

_F = TypeVar("_F", bound=Callable[..., Any])


def pairs(
    _context: click.Context, parameter: click.Parameter, values: tuple[str, ...]
) -> dict[str, str]:
    """Parse the values of a repeated option `key=value`; a click callback."""
    found = {}
    for value in values:
        key, equals, text = value.partition("=")
        if not equals or not key.strip():
            message = f"'{value}' is not of the form key=value"
            raise click.BadParameter(message, param=parameter)
        found[key.strip()] = text
    return found


def percentage(_context: click.Context, parameter: click.Parameter, value: str) -> float:
    """Parse a percentage such as `1%`; a click callback."""
    try:
        number = float(value.removesuffix("%")) if value.endswith("%") else 0.0
    except ValueError:
        number = 0.0
    if not 0 < number <= 100:
        message = f"'{value}' is not a percentage above 0%, such as 1%"
        raise click.BadParameter(message, param=parameter)
    return number / 100


#: `--set`, for a command with session settings.
settings_option = click.option(
    "--set",
    "settings",
    metavar="KEY=VALUE",
    multiple=True,
    callback=pairs,
    help="Set a session setting; overrides SET in the script. Repeatable.",
)

#: `--master`, for a command that starts Spark.
master_option = click.option(
    "--master", metavar="URL", help="Spark master. By default, Spark runs on this machine."
)


def script_arguments(function: _F, *, required: bool = True) -> _F:
    """Add the arguments FILE, `--set` and `--var` to a command."""
    decorators = (
        click.argument("file", type=click.Path(path_type=Path), required=required),
        settings_option,
        click.option(
            "--var",
            "variables",
            metavar="NAME=VALUE",
            multiple=True,
            callback=pairs,
            help="Replace ${NAME} in the script by a value. Repeatable.",
        ),
    )
    for decorate in reversed(decorators):
        function = decorate(function)
    return function


def load_script(
    file: Path, settings: dict[str, str], variables: dict[str, str], *, offline: bool = False
) -> Session:
    """Create a session and load the script.

    Args:
        file: the script.
        settings: values of `--set`.
        variables: values of `--var`.
        offline: whether no server may be asked; a script that needs one is then refused.

    Raises:
        StreamtableError: NOT_YET for a job file; FILE_UNREADABLE, EMPTY_SCRIPT, or a single error
            of script and settings.
        Faults: several errors.
    """
    if is_job_file(file):
        raise StreamtableError(
            Condition.NOT_YET,
            what=f"this command for {file}, a data ingestion job,",
            hint="`streamtable validate`, `check` and `run` accept it",
        )
    return load_text(read_script(file), str(file), settings, variables, offline=offline)


def load_text(
    text: str,
    file: str,
    settings: dict[str, str],
    variables: dict[str, str],
    *,
    offline: bool = False,
) -> Session:
    """Create a session and load the text of a script.

    Args:
        text: the script.
        file: name of the file, for places.
        settings: values of `--set`.
        variables: values of `--var`.
        offline: whether no server may be asked; a script that needs one is then refused.

    Raises:
        StreamtableError: as for `load_script`.
    """
    given, faults = _fixed(settings)
    session = Session(settings=given)
    session.catalog.external.offline = offline
    try:
        session.load(text, file, variables)
    except StreamtableError as error:
        faults += singles(error)
    faults += [_of_jobs(command) for command in session.commands]
    raise_all(faults)
    if not session.statements:
        raise StreamtableError(
            Condition.EMPTY_SCRIPT, file=file, hint="start with CREATE TABLE and INSERT INTO"
        )
    return session


def load_settings(
    file: Path | None, settings: dict[str, str], variables: dict[str, str]
) -> Session:
    """Create a session with the settings of a script or of a data ingestion job.

    Args:
        file: the script or job file, which is checked as a whole; None for no file.
        settings: values of `--set`.
        variables: values of `--var`.

    Raises:
        StreamtableError: the errors of `load_script`, or of the job file.
    """
    if file is None:
        return Session(settings=fixed_settings(settings))
    if not is_job_file(file):
        return load_script(file, settings, variables)
    require_reader()
    from streamtable.ingest.file.job_file import load_job  # SQL scripts do not need this import

    load_job(file, variables)
    return Session(settings=fixed_settings(settings))


def _of_jobs(command: JobStatement) -> StreamtableError:
    return StreamtableError(
        Condition.NOT_YET,
        at=command.at,
        what="a statement about jobs in a script, which is one job itself,",
        hint="write it in `streamtable sql`",
    )


def _fixed(settings: dict[str, str]) -> tuple[SessionSettings, list[StreamtableError]]:
    """Return the valid settings, and the errors of all other settings."""
    kept: dict[str, str] = {}
    faults: list[StreamtableError] = []
    for key, value in settings.items():
        try:
            fixed_settings({key: value})
        except StreamtableError as error:
            faults.append(error)
        else:
            kept[key] = value
    return fixed_settings(kept), faults


def notice(line: str) -> None:
    """Print a line on standard error, without secrets."""
    click.echo(without_secrets(line), err=True)


def print_notices(session: Session) -> None:
    """Print the session's notices, about accepted items of limited effect, on standard error."""
    for line in session.notices():
        notice(line)
