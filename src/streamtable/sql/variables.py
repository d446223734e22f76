"""`${name}` and `${env:NAME}`: where a script's variables take their values."""

from __future__ import annotations

import os
from collections.abc import Mapping

from streamtable.core.errors import Condition, Span, StreamtableError, closest

_ENVIRONMENT = "env:"


def value_of(name: str, variables: Mapping[str, str], at: Span) -> str:
    """The value of a variable.

    Args:
        name: what stands between the braces; `env:NAME` asks the environment only.
        variables: what the user gave with `--var`; goes before the environment.
        at: where the variable is used.

    Raises:
        StreamtableError: UNKNOWN_VARIABLE.
    """
    if name.startswith(_ENVIRONMENT):
        found = os.environ.get(name.removeprefix(_ENVIRONMENT))
    else:
        found = variables.get(name, os.environ.get(name))
    if found is None:
        hint = closest(name, variables) or "give it with --var or in the environment"
        raise StreamtableError(Condition.UNKNOWN_VARIABLE, at=at, hint=hint, name=name)
    return found
