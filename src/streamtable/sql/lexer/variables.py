"""Script variables: `${name}`, `${env:NAME}`, `${file:PATH}`, `${secret_values.NAME}`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from streamtable.core.errors import Condition, Span, StreamtableError, closest
from streamtable.core.secrets import hide
from streamtable.core.text_files import read_text

_ENVIRONMENT = "env:"
_FILE = "file:"
_STORED = "secret_values."

#: Environment variable with the directory of secrets, one file per secret, as mounted in
#: containers.
SECRETS_DIRECTORY = "STREAMTABLE_SECRETS"


def value_of(name: str, variables: Mapping[str, str], at: Span) -> str:
    """Return the value of a variable; a value from a file is registered as a secret.

    Args:
        name: text between the braces. `env:NAME` reads only the environment. `file:PATH` is the
            text of a file without its final line break. `secret_values.NAME` is the text of the
            file NAME in the directory of the environment variable STREAMTABLE_SECRETS.
        variables: values of `--var`; they override the environment.
        at: place of the variable.

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
    text = read_text(path, "check the variable's name", at)
    value = text.removesuffix("\n").removesuffix("\r")
    hide(value)
    return value
