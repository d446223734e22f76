"""`${name}`, `${env:NAME}`, `${file:PATH}`, `${secret_values.NAME}`: a script's variables."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from streamtable.core.errors import Condition, Span, StreamtableError, closest
from streamtable.core.secrets import hide

_ENVIRONMENT = "env:"
_FILE = "file:"
_STORED = "secret_values."

#: Names the directory that holds each secret as a file of its name, as containers get them mounted.
SECRETS_DIRECTORY = "STREAMTABLE_SECRETS"


def value_of(name: str, variables: Mapping[str, str], at: Span) -> str:
    """The value of a variable; what a file gives is a secret from then on.

    Args:
        name: what stands between the braces; `env:NAME` asks the environment only, `file:PATH` is
            the text of a file without the line's end at its end, `secret_values.NAME` that of the
            file NAME in the directory that the environment variable STREAMTABLE_SECRETS names.
        variables: what the user gave with `--var`; goes before the environment.
        at: where the variable is used.

    Raises:
        StreamtableError: UNKNOWN_VARIABLE, FILE_UNREADABLE.
    """
    if name.startswith(_FILE):
        return _secret(Path(name.removeprefix(_FILE)), at)
    if name.startswith(_STORED) and name not in variables:
        return _secret(_secrets_directory(name, at) / name.removeprefix(_STORED), at)
    if name.startswith(_ENVIRONMENT):
        found = os.environ.get(name.removeprefix(_ENVIRONMENT))
    else:
        found = variables.get(name, os.environ.get(name))
    if found is None:
        hint = closest(name, variables) or "give it with --var or in the environment"
        raise StreamtableError(Condition.UNKNOWN_VARIABLE, at=at, hint=hint, name=name)
    if name.startswith(_STORED):
        hide(found)
    return found


def _secrets_directory(name: str, at: Span) -> Path:
    directory = os.environ.get(SECRETS_DIRECTORY)
    if directory is None:
        hint = f"set {SECRETS_DIRECTORY} to a directory with a file for each secret"
        raise StreamtableError(Condition.UNKNOWN_VARIABLE, at=at, hint=hint, name=name)
    return Path(directory)


def _secret(path: Path, at: Span) -> str:
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        reason: object = error.strerror
    except UnicodeDecodeError as error:
        reason = f"it is not UTF-8 at byte {error.start}"
    else:
        value = text.removesuffix("\n").removesuffix("\r")
        hide(value)
        return value
    raise StreamtableError(
        Condition.FILE_UNREADABLE, at=at, path=path, reason=reason, hint="see the variable's name"
    )
